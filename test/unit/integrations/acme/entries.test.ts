// Certificates of several entries: what each has for itself, and what they share.
import { expect, test } from 'vitest'
import { AcmeKeeper } from '#integrations/acme/acme-keeper.ts'
import {
  acmeStateLimits,
  emptyState,
  printState,
  readState,
  seenFrom,
  withCertificate,
} from '#integrations/acme/acme-state.ts'
import type { CaProblem } from '#integrations/acme/ca-transport.ts'
import { CertificateVault } from '#integrations/acme/certificate-vault.ts'
import type { OrderedCertificate } from '#integrations/acme/order-certificate.ts'
import { Random } from '#lib/random.ts'
import { err, ok } from '#lib/result.ts'
import type { Result } from '#lib/result.ts'
import { keptLog, lifeMs, memoryStore, orderedAt, standInCa } from '#test/support/certificates.ts'
import type { MemoryStore } from '#test/support/certificates.ts'
import { FakeTime } from '#test/support/fake-time.ts'

const began = Date.UTC(2026, 10, 30)
const directory = 'https://ca.test/dir'
type Answer = () => Result<OrderedCertificate, CaProblem>

interface Options {
  readonly store: MemoryStore
  readonly time: FakeTime
  readonly entry?: string
  readonly names?: readonly string[]
  readonly others?: readonly (readonly string[])[]
}

function world(answer: Answer, { store, time, entry = '', others = [], ...options }: Options) {
  const { names = ['ns.example.com'] } = options
  const { log } = keptLog()
  store.nowMs = time.clock.nowMs
  const copy = { read: () => undefined, write: () => undefined }
  const secretKey = Buffer.alloc(32, 7)
  const vault = new CertificateVault({ store, copy, secretKey, clock: time.clock, log })
  const ca = standInCa(answer, 0)
  const keeper = new AcmeKeeper({
    ...{ vault: vault.of(entry), entry, wish: { directory, names }, contact: [] },
    besides: others.map((all) => ({ directory, names: all })),
    ...{ agreesToTerms: true, authorities: () => ok(undefined), canProve: () => true },
    askRenewal: async () => ok({ window: null, retryAfterMs: null }),
    externalAccount: () => ok(undefined),
    order: ca.order,
    solver: {
      typeFor: () => err('no name is proven here'),
      publish: async () => ok(null),
      withdraw: async () => undefined,
    },
    ...{ node: 'c1', instance: 'one', clock: time.clock },
    ...{ random: new Random(1), log },
  })
  const look = async (): Promise<void> => {
    await keeper.look()
    await keeper.idle()
  }
  return { vault, look, asked: ca.asked }
}

test('certificates of several entries are kept apart, and have one account', async () => {
  const [store, time] = [memoryStore(), new FakeTime(began)]
  const answer: Answer = () => ok(orderedAt(time.clock.nowMs()))
  const inner = { entry: 'inner', names: ['inner.example.com'] }
  const [one, other] = [{}, inner].map((more) => world(answer, { store, time, ...more }))
  await one!.look()
  const first = one!.vault.state.certificate
  await other!.look()
  await one!.look()
  const { state } = one!.vault
  expect(state.certificate).toEqual(first)
  expect(state.more['inner']!.certificate!.names).toEqual(inner.names)
  expect(other!.asked[0]!.account).toEqual(one!.asked[0]!.account)
  expect([one!.asked.length, other!.asked.length, state.holder]).toEqual([1, 1, null])
  // An entry that is not known has none.
  expect(one!.vault.of('constructor').state.certificate).toBeNull()
})

test('a failure of one entry is its own, but limited rates hold up all', async () => {
  const [store, time] = [memoryStore(), new FakeTime(began)]
  let code = 'challenge'
  const fails: Answer = () => err({ code, message: 'no', retryAfterMs: null })
  const inner = world(fails, { store, time, entry: 'inner' })
  const names = ['other.example.com']
  const outer = world(() => ok(orderedAt(time.clock.nowMs())), { store, time, names })
  await inner.look()
  await outer.look()
  expect(outer.vault.state).toMatchObject({ failure: null, more: { inner: { certificate: null } } })
  expect(outer.vault.of('inner').state.failure).toMatchObject({ code: 'challenge' })
  code = 'rateLimited'
  time.pass(outer.vault.state.certificate!.renewAtMs - began)
  await inner.look()
  await outer.look()
  expect(outer.asked).toHaveLength(1)
  time.pass(2 * 3_600_000)
  await outer.look()
  expect(outer.asked).toHaveLength(2)
})

test('an entry that settings name no more is forgotten a month after its certificate', async () => {
  const [store, time] = [memoryStore(), new FakeTime(began)]
  const answer: Answer = () => ok(orderedAt(time.clock.nowMs()))
  const [gone, stays] = ['gone', 'stays'].map((entry) => world(answer, { store, time, entry }))
  await gone!.look()
  await stays!.look()
  time.pass(lifeMs)
  await stays!.look()
  expect(Object.keys(stays!.vault.state.more)).toEqual(['gone', 'stays'])
  time.pass(lifeMs + 31 * 86_400_000)
  await stays!.look()
  expect(Object.keys(stays!.vault.state.more)).toEqual(['stays'])
})

test('an entry that has ended, and fails to be renewed, is not forgotten', async () => {
  const [store, time] = [memoryStore(), new FakeTime(began)]
  let isProven = true
  const issued: Answer = () => ok(orderedAt(time.clock.nowMs()))
  const failed: Answer = () => err({ code: 'challenge', message: 'no', retryAfterMs: null })
  const fails = world(() => (isProven ? issued() : failed()), { store, time, entry: 'fails' })
  await fails.look()
  isProven = false
  time.pass(lifeMs + 31 * 86_400_000)
  await fails.look()
  const other = world(issued, { store, time, entry: 'other', names: ['other.example.com'] })
  await other.look()
  expect(other.vault.of('fails').state.failure).toMatchObject({ code: 'challenge' })
  expect(other.vault.of('fails').state.certificate).not.toBeNull()
})

test('a certificate that is added where there are too many takes the place of one', () => {
  const of = (i: number) => ({
    ...orderedAt(i),
    directory,
    names: ['a'],
    issuedAtMs: i,
    renewAtMs: i,
  })
  let state = emptyState
  for (let i = 0; i < acmeStateLimits.moreMax + 5; i++)
    state = withCertificate(state, `e${i}`, of(i))
  expect(readState(printState(state)).ok).toBe(true)
  expect(seenFrom(state, 'e0').certificate).toBeNull()
  expect(seenFrom(state, 'e44').certificate).toEqual(of(44))
})

test('a certificate that has no room beside the others is asked for once a day', async () => {
  const [store, time] = [memoryStore(), new FakeTime(began)]
  const chain = 'c'.repeat(acmeStateLimits.textMax)
  const { look, vault, asked } = world(() => ok(orderedAt(time.clock.nowMs(), chain)), {
    ...{ store, time, entry: 'large' },
  })
  await look()
  for (let hours = 0; hours < 23; hours++) {
    time.pass(3_600_000)
    await look()
  }
  expect([asked.length, vault.of('large').state.certificate]).toEqual([1, null])
  expect(vault.of('large').state.failure!.message).toContain('write fewer names')
  time.pass(4 * 3_600_000)
  await look()
  expect(asked).toHaveLength(2)
})

test('names that move to another entry are asked for there at once', async () => {
  const [store, time] = [memoryStore(), new FakeTime(began)]
  const answer: Answer = () => ok(orderedAt(time.clock.nowMs()))
  const [moved, fresh] = [['a.example.com'], ['b.example.com']]
  await world(answer, { store, time, names: moved }).look()
  const now = world(answer, { store, time, names: fresh, others: [moved] })
  const entry = world(answer, { store, time, entry: 'x', names: moved, others: [fresh] })
  await now.look()
  await entry.look()
  expect([now.asked.length, entry.asked.length]).toEqual([1, 1])
})
