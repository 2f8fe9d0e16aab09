// Tests the API's simulations on a serving node: their content, and who gets them.
import { afterAll, beforeEach, expect, test } from 'vitest'
import type { SimulatedQuery } from '#ports/simulator.ts'
import { LiveSimulator, liveLimits } from '#questions/simulate/live.ts'
import { explanationOf } from '#node/api/explanations.ts'
import type { BundleModel } from '#bundle/format/model.ts'
import type { SourceFile } from '#compiler/read/source.ts'
import { systemClock } from '#lib/clock.ts'
import { err, ok } from '#lib/result.ts'
import { noRoutingTables } from '#routing/choose/environment.ts'
import { setHealth } from '#routing/choose/explain.ts'
import { createRoutingState, rebuildPool } from '#routing/state/candidates.ts'
import { bareModel, bundleOf, pool, service, zone } from '#test/support/bundle-models.ts'
import { rule } from '#test/support/response-rules.ts'
import { entryOf, viewOf } from '#test/support/config-view.ts'
import { unprobed } from '#ports/member-health.ts'
import type { MemberHealthView } from '#ports/member-health.ts'

const model: BundleModel = {
  ...bareModel,
  zones: [zone('example.com.')],
  pools: [
    pool(1, ['192.0.2.1', '192.0.2.2'], { name: 'web', tenant: 'acme' }),
    pool(2, ['192.0.2.9'], { name: 'other', tenant: 'zenith' }),
  ],
  services: [
    service(1, 'www.example.com.', { tenant: 'acme', pool: 0, algorithm: 'round-robin' }),
    service(2, '*.app.example.com.', { tenant: 'zenith', pool: 1 }),
    service(3, 'chain.example.com.', {
      ...{ tenant: 'acme', pool: 0, filterChain: ['sticky', 'failover'] },
    }),
    service(4, 'denied.example.com.', { tenant: 'acme', pool: 0 }),
  ],
  responseRules: [rule(1, 'exact', 'denied.example.com.')],
}

const bundle = bundleOf(model)
let state = createRoutingState(bundle, 1)
beforeEach(() => {
  state = createRoutingState(bundle, 1)
})
/** The tenant acme has a record at the apex. */
const records = entryOf('Records', 'tenants/acme/records/zone.yaml', 'zone', {
  zone: 'example.com.',
  records: [{ name: '@', type: 'TXT', values: ['x'] }],
})
const webPool = entryOf('Pool', 'tenants/acme/pools/web.yaml', 'web', {
  members: ['192.0.2.1', '192.0.2.2'].map((ipAddress) => ({ ipAddress, port: 80 })),
})
/** The services of acme answer from the pool web, of which n2 finds the first member down. */
const services = model.services
  .filter(({ tenant }) => tenant === 'acme')
  .map(({ name, domain }) => {
    return entryOf('Service', `tenants/acme/services/${name}.yaml`, name, { domain, pool: 'web' })
  })
const memberHealth: MemberHealthView = {
  node: 'n1',
  of: ({ ipAddress }) => ({
    ...unprobed('n1'),
    nodes: [
      { ...unprobed('n1'), node: 'n1', healthy: true, score: 1 },
      { ...unprobed('n2'), node: 'n2', healthy: ipAddress !== '192.0.2.1', score: 0.5 },
    ],
  }),
  onChange: () => () => undefined,
}
/** An accepted commit, in which www has another TTL and a member fewer. */
const older = 'a'.repeat(40)
const yaml = (path: string, text: string): SourceFile => {
  const bytes = Buffer.from(`apiVersion: gslb/v1\n${text}`)
  return { path, blobId: path, kind: 'file', sizeBytes: bytes.length, bytes }
}
const olderFiles = [
  yaml(
    'gslb.yaml',
    'kind: Settings\nmetadata: { name: settings }\n' +
      'spec: { zones: [{ name: example.com., nameservers: [{ name: ns1.example.net. }] }] }\n',
  ),
  yaml(
    'tenants/acme/tenant.yaml',
    'kind: Tenant\nmetadata: { name: acme }\nspec: { rpsLimit: 5 }\n',
  ),
  yaml(
    'tenants/acme/pools/web.yaml',
    'kind: Pool\nmetadata: { name: web }\nspec:\n  members:\n' +
      '    - { ipAddress: 192.0.2.2, port: 80 }\n    - { ipAddress: 192.0.2.7, port: 80 }\n',
  ),
  yaml(
    'tenants/acme/services/www.yaml',
    'kind: Service\nmetadata: { name: www }\n' +
      'spec: { domain: www.example.com., pool: web, ttl: 77 }\n',
  ),
]
const parts = {
  node: () => ({ bundle, state, tables: noRoutingTables, commit: 'abc' }),
  nodeName: 'n1',
  config: viewOf(records, webPool, ...services),
  memberHealth,
  peers: () => ['n2', 'n3'],
  clock: systemClock,
  filesOf: async (commit: string) =>
    commit === older ? ok(olderFiles) : err('not-found' as const),
}
// A thread takes seconds to start where much else is running.
const simulator = new LiveSimulator({ ...parts, jobMs: 60_000 })
afterAll(() => simulator.close())

async function ask(
  name: string,
  more: Partial<SimulatedQuery> = {},
  tenant: string | null = null,
  by = simulator,
) {
  const done = await by.simulate({ name, type: 'A', ...more }, tenant)
  return done.ok ? done.value : done.error
}

test('an answer has its service, members, steps, commit and bundle', async () => {
  expect(await ask('chain.example.com.', { subnet: '203.0.113.0/24' })).toMatchObject({
    ...{ name: 'chain.example.com.', type: 'A', seed: 1, node: 'n1', commit: 'abc' },
    ...{ digest: bundle.digest, rcode: 'NOERROR', zone: 'example.com.', match: 'exact' },
    scope: 24,
    service: {
      ...{ tenantId: 'acme', algorithm: 'sticky, failover', pool: 'web' },
      candidates: ['192.0.2.1', '192.0.2.2'],
      steps: [
        { name: 'sticky', before: ['192.0.2.1', '192.0.2.2'], reason: 'takes 1 of 2' },
        { name: 'failover', reason: 'changes nothing' },
      ],
    },
  })
})

test('turns and health are those of the node now, and stay what they are', async () => {
  state.serviceCursor[0] = 1
  const picks = { service: { picks: ['192.0.2.2'], steps: [{ after: ['192.0.2.2'] }] } }
  for (let i = 0; i < 2; i++) expect(await ask('www.example.com.')).toMatchObject(picks)
  expect(state.serviceCursor[0]).toBe(1)
  setHealth(bundle, state, new Map([['web/192.0.2.2', { healthy: false }]]))
  rebuildPool(bundle, state, 0)
  expect(await ask('www.example.com.')).toMatchObject({
    service: { picks: ['192.0.2.1'], members: [{}, { standing: 'unhealthy' }] },
  })
  const health = { 'web/192.0.2.2': true, 'acme/web/192.0.2.1': { healthy: false, score: 0.1 } }
  expect(await ask('www.example.com.', { health })).toMatchObject({
    service: { picks: ['192.0.2.2'] },
  })
  expect([...state.memberHealthy]).toEqual([1, 0, 1])
})

test('a simulation can use the probes of another node', async () => {
  const seen = { node: 'n2', service: { picks: ['192.0.2.2'], members: [{ score: 0.5 }, {}] } }
  expect(await ask('www.example.com.', { node: 'n2' })).toMatchObject(seen)
  expect(await ask('www.example.com.', { node: 'n2' }, 'acme')).toMatchObject(seen)
  // What is assumed goes before it.
  const health = { 'web/192.0.2.1': true, 'web/192.0.2.2': false }
  expect(await ask('www.example.com.', { node: 'n2', health })).toMatchObject({
    ...{ node: 'n2', service: { picks: ['192.0.2.1'] } },
  })
  // It says nothing of these members; of a name without a service there is nothing to say.
  const own = { service: { picks: ['192.0.2.1'] } }
  expect(await ask('www.example.com.', { node: 'n3' })).toMatchObject({ node: 'n3', ...own })
  expect(await ask('example.com.', { node: 'n2' })).toMatchObject({ node: 'n2', service: null })
  expect(await ask('www.example.com.', { node: 'n1' })).toMatchObject({ node: 'n1', ...own })
  expect(await ask('www.example.com.', { node: 'n2' }, 'zenith')).toEqual({ code: 'not-found' })
  expect([...state.memberHealthy]).toEqual([1, 1, 1])
})

test('a rule that answers in place of the service is shown', async () => {
  expect(await ask('denied.example.com.', {}, 'acme')).toMatchObject({
    ...{ rcode: 'NXDOMAIN', service: null },
    rule: { triggerType: 'exact', triggerValue: 'denied.example.com', action: 'nxdomain' },
  })
})

test.each([
  ['www.example.com.', 'acme', true],
  ['www.example.com.', 'zenith', false],
  ['x.app.example.com.', 'zenith', true],
  ['x.app.example.com.', 'acme', false],
  ['denied.example.com.', 'zenith', false],
  ['nothing.example.com.', 'acme', false],
  ['elsewhere.test.', 'acme', false],
  ['example.com.', 'acme', true],
  ['example.com.', 'zenith', false],
])('the name %s is there for the tenant %s: %s', async (name, tenant, isThere) => {
  const answer = await ask(name, {}, tenant)
  if (isThere) expect(answer).toMatchObject({ node: 'n1' })
  else expect(answer).toEqual({ code: 'not-found' })
})

test.each([
  [{ name: 'a..b' }, 'name', 'is not a domain name'],
  [{ type: 'AAAAA' }, 'type', 'did you mean "AAAA"?'],
  [{ subnet: '192.0.2.0/33' }, 'subnet', 'is not an IP address, nor a network'],
  [{ client: '192.0.2.0/24' }, 'client', 'is not an IP address'],
  [{ at: 'noon' }, 'at', 'is not a time'],
  [{ at: '2026-01-31T12:00:00' }, 'at', 'has no zone'],
  [{ health: { 'web/192.0.2.7': false } }, 'health', 'there is no member "web/192.0.2.7"'],
  [{ node: 'n4' }, 'node', 'no node of this name tells this one what its probes find'],
  // Another tenant's.
  [{ health: { 'other/192.0.2.9': false } }, 'health', 'there is no member'],
])('%j is refused by field and reason', async (wrong, field, reason) => {
  expect(await ask('www.example.com.', wrong, 'acme')).toEqual({
    ...{ code: 'invalid', field },
    reason: expect.stringContaining(reason) as string,
  })
})

test('another commit answers, with the health of now where a member is the same', async () => {
  setHealth(bundle, state, new Map([['web/192.0.2.2', { healthy: false }]]))
  rebuildPool(bundle, state, 0)
  for (let i = 0; i < 2; i++) {
    expect(await ask('www.example.com.', { commit: older })).toMatchObject({
      ...{ commit: older, records: ['www.example.com. 77 IN A 192.0.2.7'] },
      service: { candidates: ['192.0.2.7'], members: [{ standing: 'unhealthy' }, {}] },
    })
  }
  const own = await ask('www.example.com.', { commit: older }, 'acme')
  expect(own).toMatchObject({ service: { tenantId: 'acme' } })
  expect(await ask('www.example.com.', { commit: older }, 'zenith')).toEqual({ code: 'not-found' })
  // What answers now does so as before, and the commit that answers needs no other.
  expect(await ask('www.example.com.')).toMatchObject({ commit: 'abc', digest: bundle.digest })
  expect(await ask('www.example.com.', { commit: 'abc' })).toMatchObject({ commit: 'abc' })
  expect(await ask('www.example.com.', { commit: 'b'.repeat(40) })).toMatchObject({
    ...{ code: 'invalid', field: 'commit' },
    reason: 'is none of the history of the accepted configuration',
  })
})

test('files of two commits are never read at once, and a fault blocks none', async () => {
  let [reading, most] = [0, 0]
  const filesOf = async (commit: string) => {
    most = Math.max(most, ++reading)
    await new Promise((resolve) => setImmediate(resolve))
    reading--
    if (commit === 'f'.repeat(40)) throw new Error('the history is broken')
    return commit === older ? ok(olderFiles) : err('not-found' as const)
  }
  const reader = new LiveSimulator({ ...parts, filesOf, jobMs: 60_000 })
  const commits = [older, 'b'.repeat(40), older, 'f'.repeat(40), 'c'.repeat(40), older]
  const done = await Promise.allSettled(
    commits.map((commit) => ask('www.example.com.', { commit }, null, reader)),
  )
  expect(most).toBe(1)
  const shown = done.map((one) => (one.status === 'rejected' ? 'broken' : one.value))
  const answer = { commit: older, records: ['www.example.com. 77 IN A 192.0.2.2'] }
  const unknown = { code: 'invalid', field: 'commit' }
  expect(shown).toMatchObject([answer, unknown, answer, 'broken', unknown, answer])
  await reader.close()
})

test('queries beyond those that may wait are refused', async () => {
  const many = Array.from({ length: liveLimits.waitingMax + 1 }, () => ask('www.example.com.'))
  const answers = await Promise.all(many)
  expect(answers.filter((one) => 'code' in one)).toEqual([{ code: 'busy' }])
  expect(await ask('www.example.com.')).toMatchObject({ rcode: 'NOERROR' })
})

test('a tenant that simulates much at once leaves places to others', async () => {
  const many = Array.from({ length: liveLimits.perTenantMax + 2 }, () =>
    ask('www.example.com.', {}, 'default'),
  )
  const others = ask('www.example.com.')
  const busy = (await Promise.all(many)).filter((one) => 'code' in one && one.code === 'busy')
  expect(busy).toHaveLength(2)
  expect(await others).toMatchObject({ rcode: 'NOERROR' })
})

test('a slow simulation is ended, and so is one of a node without answers', async () => {
  const hurried = new LiveSimulator({ ...parts, jobMs: 0 })
  expect(await ask('www.example.com.', {}, null, hurried)).toEqual({ code: 'too-slow' })
  const idle = new LiveSimulator({ ...parts, node: () => undefined })
  expect(await ask('www.example.com.', {}, null, idle)).toEqual({ code: 'no-bundle' })
})

test('a code is explained, of a diagnostic and of a commit that is held', () => {
  const diagnostic = explanationOf('pool-unknown')
  expect(diagnostic).toMatchObject({ code: 'pool-unknown', severity: 'error' })
  expect([diagnostic?.help, diagnostic?.bad]).not.toContain('')
  const reason = explanationOf('UNSIGNED')
  expect(reason).toMatchObject({ code: 'Unsigned', severity: 'held', bad: '' })
  expect(reason?.help).not.toBe('')
})

test('a code that there is not is not explained', () => {
  expect(explanationOf('constructor')).toBeUndefined()
})
