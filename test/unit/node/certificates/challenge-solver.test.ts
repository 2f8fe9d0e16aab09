import { expect, test } from 'vitest'
import { err, ok } from '#lib/result.ts'
import { createChallengeSolver } from '#node/certificates/challenge-solver.ts'
import type { ChallengeSolverParts, HttpChallenges } from '#node/certificates/challenge-solver.ts'
import type { StoredRecord } from '#state/ports/dynamic-dns.ts'
import { bundleOf } from '#test/support/bundle-models.ts'
import { keptLog } from '#test/support/certificates.ts'
import { FakeTime } from '#test/support/fake-time.ts'
import { modelOfWritten } from '#test/support/dns/written-zone.ts'

const zone = `@ SOA ns1 hostmaster 1 3600 600 86400 60
@ NS ns1
ns1 A 192.0.2.53
www A 192.0.2.1
_acme-challenge.led CNAME elsewhere.example.
sub NS ns.elsewhere.example.
old DNAME new.example.
`
const bundle = bundleOf(modelOfWritten({ name: 'example.org.', text: `$TTL 60\n${zone}` }))

function world(behind: readonly (readonly string[])[] = [[]], http: HttpChallenges | null = null) {
  const stored = new Map<string, StoredRecord>()
  const { log, lines } = keptLog()
  const time = new FakeTime(Date.UTC(2026, 0, 1))
  const wait = async (delayMs: number) => time.pass(delayMs)
  let looks = 0
  const database = { isAway: false }
  const dynamicDns = {
    createRecord: async (record: StoredRecord) => {
      stored.set(record.id, record)
      return ok({ revision: 1, added: [record], removed: [] })
    },
    deleteRecord: async (_scope: unknown, id: string) => {
      if (database.isAway) return err({ code: 'store-away', message: 'away' } as const)
      stored.delete(id)
      return ok({ revision: 2, added: [], removed: [id] })
    },
    listRecords: async () => ok([...stored.values()]),
  }
  const nodes = () => behind[Math.min(looks, behind.length - 1)]!
  const inventory = {
    refresh: async () => void looks++,
    all: () => nodes().map((texts, i) => known(`far-${i}`, texts)),
  }
  const solver = createChallengeSolver({
    ...{ dynamicDns, bundle: () => bundle, inventory, textsDigest: () => 'newest' },
    ...{ propagationMs: 30_000, http, clock: time.clock, wait, log },
  } as unknown as ChallengeSolverParts)
  return { solver, stored, lines, database, time, looks: () => looks }
}

const known = (name: string, texts: string) => ({
  report: { name, role: 'dns', texts },
  ...{ isCounted: true, isMissing: false },
})

test.each([
  ['www.example.org', undefined],
  ['example.org', undefined],
  ['led.example.org', 'the configuration has an alias there (a CNAME, perhaps of another tenant)'],
  ['led.example.org', 'take it away: in the repository, git grep _acme-challenge finds its file'],
  ['a.sub.example.org', 'it is delegated to other name servers'],
  ['a.old.example.org', 'it is below a DNAME'],
  ['www.example.net', '_acme-challenge.www.example.net. is in no zone that is answered here'],
])('whether %s can be proven by a record is said before it is tried', (name, why) => {
  const type = world().solver.typeFor(name, false)
  if (why === undefined) expect(type).toEqual(ok('dns-01'))
  else expect(type.ok ? '' : type.error).toContain(why)
})

const proof = (name: string, value: string) =>
  ({ type: 'dns-01', name, token: 't', value }) as const

test('a proof is a TXT record until it is withdrawn; what dead orders left goes, too', async () => {
  const { solver, stored } = world()
  const old = { id: 'old', name: '_acme-challenge.www.example.org.', writtenBy: 'acme' }
  const others = { ...old, id: 'others', writtenBy: 'key:certbot.' }
  for (const one of [old, others]) stored.set(one.id, { ...one, createdAtMs: 1 } as StoredRecord)
  const signal = new AbortController().signal
  // A wildcard and its name have a proof each, at one name.
  const proofs = [proof('www.example.org', 'one'), proof('www.example.org', 'two')]
  expect(await solver.publish(proofs, signal)).toEqual(ok(null))
  const rdata = [...stored.values()].map((one) => [one.name, one.rdata])
  expect(rdata).toEqual([
    ['_acme-challenge.www.example.org.', undefined],
    ['_acme-challenge.www.example.org.', Buffer.from('\x03one').toString('base64')],
    ['_acme-challenge.www.example.org.', Buffer.from('\x03two').toString('base64')],
  ])
  await solver.withdraw()
  expect([...stored.keys()]).toEqual(['others'])
})

test('a proof that cannot be taken away is so later, and is said once', async () => {
  const { solver, stored, lines, database } = world()
  const signal = new AbortController().signal
  await solver.publish([proof('www.example.org', 'one')], signal)
  database.isAway = true
  await solver.withdraw()
  await solver.withdraw()
  expect([stored.size, lines.length]).toEqual([1, 1])
  database.isAway = false
  await solver.withdraw()
  expect(stored.size).toBe(0)
})

test('what an order left that was killed a moment ago goes with the next one', async () => {
  const { solver, stored } = world()
  const signal = new AbortController().signal
  await solver.publish([proof('www.example.org', 'one')], signal)
  await solver.publish([proof('www.example.org', 'two')], signal)
  expect([...stored.values()].map(({ rdata }) => rdata)).toEqual([
    Buffer.from('\x03two').toString('base64'),
  ])
})

test('the CA is told when each node of the fleet has the records', async () => {
  const { solver, looks, lines, time } = world([
    ['older', 'newest'],
    ['older', 'newest'],
    ['newest', 'newest'],
  ])
  const signal = new AbortController().signal
  expect(await solver.publish([proof('www.example.org', 'one')], signal)).toEqual(ok(null))
  expect(looks()).toBe(2)
  expect(lines).toEqual([])
  // Published, looked twice, and spread.
  expect(time.clock.monotonicMs()).toBe(1_500 + 500 + 30_000)
})

test('a node that stays behind holds an order up for 90 seconds, and is named', async () => {
  const { solver, lines, time } = world([['newest', 'older']])
  const signal = new AbortController().signal
  expect(await solver.publish([proof('www.example.org', 'one')], signal)).toEqual(ok(null))
  expect(lines).toEqual(['warn: nodes do not answer a proof for acme yet'])
  const waitedMs = time.clock.monotonicMs() - 30_000
  expect(waitedMs).toBeGreaterThan(90_000)
  expect(waitedMs).toBeLessThan(93_000)
})

test('a name in no zone of ours is proven by HTTP, a wildcard of it is not', async () => {
  const published: unknown[] = []
  const http = {
    publish: async (challenges: unknown) => {
      published.push(challenges)
      return ok(null)
    },
    spreadMs: 0,
  }
  const { solver, stored } = world([[]], http)
  expect(solver.typeFor('www.example.net', false)).toEqual(ok('http-01'))
  expect(solver.typeFor('www.example.net', true)).toMatchObject({ ok: false })
  expect(solver.typeFor('www.example.org', false)).toEqual(ok('dns-01'))
  const byHttp = { type: 'http-01', name: 'www.example.net', token: 't1', value: 't1.key' } as const
  const signal = new AbortController().signal
  const proofs = [byHttp, proof('www.example.org', 'one')]
  expect(await solver.publish(proofs, signal)).toEqual(ok(null))
  expect(published).toEqual([[{ host: 'www.example.net', token: 't1', answer: 't1.key' }]])
  expect([...stored.values()].map(({ name }) => name)).toEqual(['_acme-challenge.www.example.org.'])
})
