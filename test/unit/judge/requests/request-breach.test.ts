// Tests the limits for API requests besides removed names: those of commits, for one request and
// for all of the last ten minutes.
import assert from 'node:assert/strict'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import type { JsonObject } from '#compiler/yaml/text.ts'
import type { NeedsPlan, Operation, WriteFailure } from '#config/operation.ts'
import {
  keyOf,
  recordsSettings,
  recordsZone,
  rootKey,
  startConfigWorld,
  writeRequest,
} from '#test/support/config-world.ts'
import type { ConfigWorld } from '#test/support/config-world.ts'

const tenant = 'acme'
const memberIds = (pool: string): readonly number[] => (pool === 'web' ? [1, 2, 3, 4] : [5, 6])
const memberUid = (pool: string, n: number): string =>
  `00000000-0000-4000-8000-0000000${['web', 'shop', 'mail'].indexOf(pool)}000${n}`
const poolSpec = (pool: string): JsonObject => ({
  members: memberIds(pool).map((n) => ({
    ...{ name: `m${n}`, uid: memberUid(pool, n) },
    ...{ ipAddress: `192.0.2.${n}`, port: 80 },
  })),
})
const domain = (i: number): string => `s${i}.${recordsZone}`

/** Operations of one request. */
const operationsMax = 60

let site: ConfigWorld
beforeAll(async () => {
  site = await startConfigWorld({ settings: recordsSettings })
})
afterAll(() => site.close())

const setGuardrails = (guardrails: JsonObject): Operation => ({
  ...{ verb: 'update', kind: 'Settings', target: { tenant: '', name: 'settings' } },
  patch: { guardrails },
})

/** Three pools of four, two and two members; services that ask them; all of it counts as old. */
async function begin({ guardrails = {}, services = 3 }: Partial<Case> = {}): Promise<ConfigWorld> {
  const pools = ['web', 'shop', 'mail']
  const { list } = site.control.config.snapshot()
  const old = [...list('Service'), ...list('Records'), ...list('Pool'), ...list('ResponsePolicy')]
  const operations = old.map(({ kind, uid }): Operation => ({
    verb: 'delete',
    kind,
    target: { uid },
  }))
  operations.push(setGuardrails(guardrails), ofZone({}))
  for (const name of pools) {
    operations.push({ verb: 'create', kind: 'Pool', tenant, name, spec: poolSpec(name) })
  }
  for (let i = 0; i < services; i++) {
    const spec = { domain: domain(i), pool: pools[i % 3]!, ttl: 60 }
    operations.push({ verb: 'create', kind: 'Service', tenant, name: `s${i}`, spec })
  }
  const records = [{ name: 'old', type: 'TXT', ttl: 86_400, values: ['text'] }]
  const spec = { zone: recordsZone, records }
  operations.push({ verb: 'create', kind: 'Records', tenant, name: 'static', spec })
  while (operations.length > 0) {
    const some = operations.splice(0, operationsMax)
    const written = await site.control.write(writeRequest(some, 'the beginning'))
    assert(written.ok, JSON.stringify(written))
  }
  return site
}

const take = (pool: string, n: number): Operation => {
  return { verb: 'delete', kind: 'Member', target: { uid: memberUid(pool, n) } }
}
const edit = (pool: string, n: number, patch: JsonObject): Operation => {
  return { verb: 'update', kind: 'Member', target: { uid: memberUid(pool, n) }, patch }
}
const disable = (pool: string, n: number): Operation => edit(pool, n, { enabled: false })
const patchService = (i: number, patch: JsonObject): Operation => {
  return { verb: 'update', kind: 'Service', target: { tenant, name: `s${i}` }, patch }
}
const addMember = (pool: string, n: number): Operation => ({
  ...{ verb: 'create', kind: 'Member', owner: { tenant, name: pool } },
  spec: { name: `m${n}`, ipAddress: `192.0.2.${n}`, port: 80 },
})
const turn = (from: number, to: number): Operation[] =>
  Array.from({ length: to - from }, (_, i) => patchService(from + i, { algorithm: 'failover' }))
const ttls = (count: number, ttl: number): Operation[] =>
  Array.from({ length: count }, (_, i) => patchService(i, { ttl }))

const back = (from: number, to: number): Operation[] =>
  Array.from({ length: to - from }, (_, i) => patchService(from + i, { algorithm: null }))
const removeService = (i: number): Operation => {
  return { verb: 'delete', kind: 'Service', target: { tenant, name: `s${i}` } }
}
const addRecord = (name: string, type: string, ttl: number): Operation => ({
  ...{ verb: 'create', kind: 'RecordSet', owner: { tenant, name: 'static' } },
  spec: { name, type, ttl, values: ['"text"'] },
})

const addPool = (name: string, members: readonly JsonObject[] = []): Operation => {
  return { verb: 'create', kind: 'Pool', tenant, name, spec: { members } }
}
const block = (triggerValue: string): Operation => ({
  ...{ verb: 'create', kind: 'ResponsePolicy', tenant: '', name: 'block' },
  spec: { rules: [{ triggerType: 'domain', triggerValue, action: 'nxdomain' }] },
})
const ofZone = (more: JsonObject): Operation => {
  const zone = { name: recordsZone, nameservers: [{ name: 'ns1.example.net.' }] }
  const patch = { zones: [{ ...zone, tenants: ['default', 'acme', 'zenith'], ...more }] }
  return { verb: 'update', kind: 'Settings', target: { tenant: '', name: 'settings' }, patch }
}
const addService = (i: number, pool: string): Operation => ({
  ...{ verb: 'create', kind: 'Service', tenant, name: `s${i}` },
  spec: { domain: domain(i), pool, ttl: 60 },
})

interface Case {
  readonly label: string
  readonly guardrails?: JsonObject
  readonly services?: number
  /** Each a request; the last one is judged here, those before it must pass. */
  readonly requests: readonly (readonly Operation[])[]
  /** Beginning of the refusal; undefined: it may be done. */
  readonly refused?: RegExp
}

const cases: readonly Case[] = [
  { label: 'half of the members of a pool', requests: [[take('web', 1), disable('web', 2)]] },
  {
    label: 'three of four members at once',
    requests: [[take('web', 1), disable('web', 2), edit('web', 3, { weight: 0 })]],
    refused:
      /^This would take away 3 of the 4 members of pool "web" \([^)]*\), more than 50 % .*If/,
  },
  {
    label: 'three of four members one after the other',
    requests: [[take('web', 1)], [disable('web', 2)], [take('web', 3)]],
    refused: /^This would take away 3 of the 4 members of pool "web"/,
  },
  {
    label: 'members that others took the place of',
    requests: [[addMember('web', 21), addMember('web', 22)], [take('web', 1)], [take('web', 2)]],
  },
  {
    label: 'a member that came a moment ago',
    guardrails: { removedMembers: 0 },
    requests: [[disable('web', 1)], [edit('web', 1, { enabled: true })], [disable('web', 1)]],
  },
  {
    label: 'three of four members where the limit says so',
    guardrails: { removedMembers: 80 },
    requests: [[disable('web', 1), disable('web', 2), disable('web', 3)]],
  },
  {
    label: 'the members of a pool, by the limit before the request',
    guardrails: { removedMembers: 0 },
    requests: [[setGuardrails({ removedMembers: 100 }), ...[disable('web', 1), disable('web', 2)]]],
    refused: /^This would take away 2 of the 4 members .* more than 0 %/,
  },
  { label: 'the last but one member of one pool', requests: [[disable('shop', 5)]] },
  {
    label: 'the last but one member of two of three pools',
    requests: [[disable('shop', 5)], [disable('mail', 5)]],
    refused: /^This would leave 2 of 3 pools \((mail, shop|shop, mail)\) with .*guardrails.lostRed/,
  },
  {
    label: 'the last but one member of pools that nobody asks',
    services: 1,
    requests: [[disable('shop', 5), disable('mail', 5)]],
  },
  { label: 'the TTL of one name', requests: [ttls(1, 86_400)] },
  { label: 'TTLs of an hour', requests: [ttls(3, 3_600)] },
  {
    label: 'TTLs of a day, one after the other',
    requests: ttls(2, 86_400).map((one) => [one]),
    refused:
      /^This would make the TTLs of 2 names more than 10 .*s0.* from 60 s to 86400 s.*\.ttlJ/,
  },
  {
    label: 'TTLs in small steps',
    requests: [ttls(2, 500), ttls(2, 3_700)],
    refused: /from 60 s to 3700 s/,
  },
  {
    label: 'a new record at a name that has another that long',
    requests: [
      [patchService(0, { ttl: 86_400 })],
      [addRecord('old', 'SPF', 86_400), addRecord('s0', 'TXT', 86_400)],
    ],
  },
  { label: 'most of a few names', services: 20, requests: [turn(0, 20)] },
  {
    label: 'most of many names',
    services: 30,
    requests: [turn(0, 20), turn(20, 21)],
    refused:
      /^This would change 21 of 31 names \(s.* and 16 more\), more than 50 % \(guardrails.ch/,
  },
  { label: 'half of many names', services: 41, requests: [turn(0, 21)] },
  {
    label: 'a change taken back',
    services: 30,
    requests: [turn(0, 20), back(0, 20), turn(20, 30)],
  },
  {
    label: 'a pool that is named anew, and with it what most names ask',
    services: 63,
    guardrails: { changedNames: 30 },
    requests: [[{ verb: 'rename', kind: 'Pool', target: { tenant, name: 'web' }, name: 'edge' }]],
    refused: /^This would change 21 of 64 names/,
  },
  {
    label: 'the members of a pool, by the limit of its tenant',
    guardrails: { tenants: { acme: { removedMembers: 25 } } },
    requests: [[disable('web', 1)], [disable('web', 2)]],
    refused:
      /^This would take away 2 .* than 25 % \(guardrails.tenants, removedMembers of tenant "acme";/,
  },
  {
    label: 'what the tenant that is named may, and others may not',
    guardrails: { tenants: { acme: { removedMembers: 50 }, '*': { removedMembers: 0 } } },
    requests: [[disable('web', 1)], [disable('web', 2)]],
  },
  {
    label: 'names, by the limit of each tenant',
    guardrails: { removedNames: 100, tenants: { '*': { removedNames: 50 } } },
    services: 3,
    requests: [[removeService(0)], [removeService(1)]],
    refused:
      /^This would remove 2 of 3 balanced names .* 50 % \(guardrails.tenants, removedNames of/,
  },
  {
    label: 'services that move to a pool without members, one after the other',
    requests: [[addPool('empty')], [patchService(0, { pool: 'empty' })]],
    refused:
      /^This would leave 1 name without an answer that could be given before \(s0.*lostAnswers\)/,
  },
  {
    label: 'all services at once',
    requests: [[addPool('empty'), ...[0, 1, 2].map((i) => patchService(i, { pool: 'empty' }))]],
    refused: /^This would leave 3 names without an answer/,
  },
  {
    label: 'the last member of a pool',
    guardrails: { removedMembers: 100 },
    requests: [[disable('shop', 5)], [take('shop', 6)]],
    refused: /^This would leave 1 name without an answer .*\(s1\./,
  },
  {
    label: 'the last members of a family',
    requests: [[5, 6].map((n) => edit('shop', n, { ipAddress: `2001:db8::${n}` }))],
    refused: /^This would leave 1 name without .*\(s1.*: IPv4\)/,
  },
  {
    label: 'the last candidate by weight',
    guardrails: { removedMembers: 100 },
    requests: [
      [patchService(1, { algorithm: 'wrr' }), edit('shop', 5, { weight: 0 })],
      [edit('shop', 6, { weight: 0 })],
    ],
    refused: /^This would leave 1 name without/,
  },
  {
    label: 'minHealthy above what is left',
    requests: [
      [disable('web', 1), disable('web', 2)],
      [
        {
          ...{ verb: 'update', kind: 'Pool', target: { tenant, name: 'web' } },
          patch: { minHealthy: 3 },
        },
      ],
    ],
    refused: /^This would leave 1 name without/,
  },
  {
    label: 'names by a response rule',
    requests: [[block(recordsZone)]],
    refused: /^This would leave 4 names without an answer/,
  },
  { label: 'the names of others', requests: [[block('bad.example.org')]] },
  {
    label: 'the name servers of a zone',
    requests: [[ofZone({ nameservers: [{ name: 'ns9.example.net.' }] })]],
    refused: /^This would replace 1 of the 1 name servers of zone .*\(guardrails.replacedServers\)/,
  },
  {
    label: 'the TTL of a zone',
    requests: [[ofZone({ nsTtl: 2_147_483_647 })]],
    refused: /^This would make the TTL of the NS or SOA records of zone .* to 2147483647 s/,
  },
  { label: 'one name by taking its pool away', requests: [[patchService(0, { pool: null })]] },
  {
    label: 'what came a moment ago',
    requests: [
      [addPool('new', [{ name: 'a', ipAddress: '192.0.2.77', port: 80 }]), addService(9, 'new')],
      [addPool('empty'), patchService(9, { pool: 'empty' })],
    ],
  },
  { label: 'weights that nobody reads', requests: [[edit('shop', 5, { weight: 0 })]] },
  {
    label: 'as many names as the settings permit',
    guardrails: { lostAnswers: 1 },
    requests: [[addPool('empty'), patchService(0, { pool: 'empty' })]],
  },
]

describe('a request', () => {
  test.each(cases)('$label', async ({ requests, refused, ...scene }) => {
    const { control, git } = await begin(scene)
    for (const operations of requests.slice(0, -1)) {
      const done = await control.write(writeRequest(operations))
      assert(done.ok, JSON.stringify(done))
    }
    const last = writeRequest(requests.at(-1)!)
    const before = git('rev-parse', 'main')
    const dry = await control.write({ ...last, isDryRun: true })
    const real = await control.write(last)
    if (refused === undefined) {
      assert(dry.ok, JSON.stringify(dry))
      assert(real.ok, JSON.stringify(real))
      return
    }
    expect(dry).toEqual(real)
    expect(failureOf(real)).toMatchObject({
      code: 'guarded',
      message: expect.stringMatching(refused) as string,
    })
    expect(git('rev-parse', 'main')).toBe(before)
    const meant = await control.write({ ...last, override: 'the site is closed' })
    assert(meant.ok, JSON.stringify(meant))
    expect(git('log', '-1', '--format=%(trailers:key=Gslb-Override)', 'main')).toBe(
      'Gslb-Override: the site is closed',
    )
  })
})

function failureOf(
  done: Awaited<ReturnType<ConfigWorld['control']['write']>>,
): WriteFailure | NeedsPlan {
  assert(!done.ok)
  return done.error
}

test('an override starts anew', async () => {
  const { control } = await begin()
  for (const operation of [disable('web', 1), disable('web', 2)]) {
    assert((await control.write(writeRequest([operation]))).ok)
  }
  assert((await control.write(writeRequest([disable('web', 3)], 'meant'))).ok)
  assert((await control.write(writeRequest([edit('web', 3, { enabled: true })]))).ok)
  assert((await control.write(writeRequest([disable('web', 3)]))).ok, 'one of two that are left')
})

test('the requests of a shared commit that would remove too much are refused', async () => {
  const { control } = await begin()
  const all = [1, 2, 3, 4].map((n) => control.write(writeRequest([disable('web', n)])))
  const done = await Promise.all(all)
  expect(done.map(({ ok }) => ok)).toEqual([true, true, false, false])
})

test('a request that removes nothing is not refused for others', async () => {
  const { control } = await begin({ guardrails: { removedMembers: 0 } })
  assert((await control.write(writeRequest([disable('web', 1), disable('web', 2)], 'meant'))).ok)
  for (const operation of [addMember('web', 9), edit('web', 3, { weight: 5 }), ...turn(0, 1)]) {
    assert((await control.write(writeRequest([operation]))).ok)
  }
})

test('the API says 409 and what to do; a tenant hears only of what is its own', async () => {
  const { call } = await begin({ guardrails: { lostRedundancy: 0 } })
  const path = (pool: string, n: number): string => `/members/${memberUid(pool, n)}`
  const off = { enabled: false }
  for (const n of [1, 2]) {
    expect((await call(keyOf(tenant), 'PATCH', path('web', n), off)).status).toBe(200)
  }
  const third = await call(keyOf(tenant), 'PATCH', path('web', 3), off)
  expect([third.status, third.body.error]).toEqual([
    409,
    'This would take away 3 of the 4 members of pool "web" (192.0.2.1, 192.0.2.2, 192.0.2.3), ' +
      'more than 50 % (guardrails.removedMembers; all requests of 10 minutes together). Wait, or ' +
      'ask a system administrator.',
  ])
  expect((await call(keyOf(tenant), 'PATCH', path('shop', 5), off)).status).toBe(200)
  const pools = await call(keyOf(tenant), 'PATCH', path('mail', 5), off)
  expect([pools.status, pools.body.error]).toEqual([
    409,
    'This would leave more pools with fewer than two members within 10 minutes than the ' +
      'guardrails of the configuration permit (guardrails.lostRedundancy); recent changes of ' +
      'others count as well. Wait, or ask a system administrator.',
  ])
  const header = { 'x-gslb-override': 'moving' }
  expect((await call(rootKey, 'PATCH', path('mail', 5), off, header)).status).toBe(200)
})
