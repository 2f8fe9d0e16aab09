// Plans of writes that are not made: what they say, who may ask, and what they cost.
import { join } from 'node:path'
import { afterAll, beforeAll, beforeEach, expect, onTestFinished, test } from 'vitest'
import { loadBundle } from '#bundle/load/load.ts'
import { readConfigDirectory } from '#gitops/checkout/config-directory.ts'
import { LivePlanner } from '#questions/plan/live-plan.ts'
import type { MoveLimits } from '#judge/guard/moved-limit.ts'
import { createCompiler } from '#compiler/compile.ts'
import type { SourceFile } from '#compiler/read/source.ts'
import { assert } from '#lib/assert.ts'
import { systemClock } from '#lib/clock.ts'
import { ok } from '#lib/result.ts'
import { noRoutingTables } from '#routing/choose/environment.ts'
import { createRoutingState } from '#routing/state/candidates.ts'
import type { LiveNode } from '#server/node/live-node.ts'
import {
  keyOf,
  recordsSettings,
  recordsZone,
  rootKey,
  startConfigWorld,
} from '#test/support/config-world.ts'
import type { Answered, ConfigWorld } from '#test/support/config-world.ts'
import { planFaults } from '#test/support/plan-schema.ts'
import { makeTempDir, removeTempDir } from '#test/support/temp-dir.ts'

const [acme, zenith] = [keyOf('acme'), keyOf('zenith')]
const dir = makeTempDir('api-plan')
const serving: { live?: LiveNode } = {}
/** A busy machine may take its time. */
const patient = { clock: systemClock, jobMs: 60_000 }
const noLimits: MoveLimits = {}
const limits: { now: MoveLimits } = { now: noLimits }
const moveLimits = (): MoveLimits => limits.now
const planner = new LivePlanner({ node: () => serving.live, moveLimits, ...patient })
let world: ConfigWorld
/** Ids of the pool and the service of acme, and of the pool of zenith. */
const ids = { pool: '', member: '', service: '', others: '' }
const settings: SourceFile[] = []
/** Where both have a member. */
const shared = '192.0.2.99'

beforeAll(async () => {
  world = await startConfigWorld({ settings: recordsSettings, ports: { planner } })
  const make = async (by: string, path: string, body: unknown): Promise<string> => {
    const answer = await world.call(by, 'POST', path, body)
    assert(answer.status === 201, answer.text)
    return answer.body.id
  }
  ids.pool = await make(acme, '/pools', { name: 'web' })
  const members = `/pools/${ids.pool}/members`
  ids.member = await make(acme, members, { ipAddress: '192.0.2.1', port: 80 })
  await make(acme, members, { ipAddress: '192.0.2.2', port: 80 })
  const service = { domain: `www.${recordsZone}`, poolId: ids.pool, algorithm: 'round-robin' }
  ids.service = await make(acme, '/services', { name: 'www', ...service })
  ids.others = await make(zenith, '/pools', { name: 'secret' })
  const own = { ipAddress: shared, port: 80, region: 'BUNKER' }
  await make(zenith, `/pools/${ids.others}/members`, own)
  const wild = { domain: `*.${recordsZone}`, poolId: ids.others, filterChain: ['failover'] }
  await make(zenith, '/services', { name: 'wild', ...wild })
  const clone = join(dir, 'clone')
  world.git('clone', '-q', world.gitdir, clone)
  const files = readConfigDirectory(clone)
  assert(files.ok, 'the configuration is read')
  settings.push(...files.value.filter(({ path }) => path === 'gslb.yaml'))
  const compiled = createCompiler({}).compile(files.value, { commit: '' })
  assert(compiled.ok, 'what the API writes compiles')
  const loaded = loadBundle(compiled.bundle.bytes)
  assert(loaded.ok, 'what compiles loads')
  const { value: bundle } = loaded
  const state = createRoutingState(bundle, 1)
  serving.live = { bundle, state, tables: noRoutingTables, commit: '' }
})
afterAll(async () => {
  await planner.close()
  await world.close()
  removeTempDir(dir)
})

let head = ''
beforeEach(() => {
  head = world.git('rev-parse', 'main')
  onTestFinished(() => expect(world.git('rev-parse', 'main')).toBe(head))
})

interface PlanBody {
  readonly error: string
  readonly guardrail: string | null
  readonly files: readonly { readonly path: string; readonly text: string | null }[]
  readonly summary: Readonly<Record<string, number | string>>
  readonly scenarios: readonly {
    readonly health: string
    readonly at: string
    readonly omitted: number
    readonly changes: readonly {
      readonly name: string
      readonly type: string
      readonly kind: string
      readonly tenant: string
      readonly after: { readonly policy: string }
      readonly movement: {
        readonly ipv4: { readonly moved: number; readonly flows: readonly object[] }
      } | null
    }[]
  }[]
}

const api = (path: string): string => `/api/v1${path}`
type Asked = readonly [method: string, path: string, body?: unknown]
const planOf = async (
  by: string,
  requests: readonly Asked[],
  more: object = {},
): Promise<Answered & { readonly plan: PlanBody }> => {
  const listed = requests.map(([method, path, body]) => ({
    ...{ method, path: api(path) },
    ...(body === undefined ? {} : { body }),
  }))
  const answer = await world.call(by, 'POST', '/plan', { requests: listed, ...more })
  return { ...answer, plan: answer.body as unknown as PlanBody }
}
const down = (): Asked => ['PUT', `/members/${ids.member}`, { enabled: false }]
const told = ({ scenarios }: PlanBody): readonly string[] =>
  scenarios[0]!.changes.map(({ name, type, kind, movement }) => {
    const moved = movement === null ? '-' : Math.round(movement.ipv4.moved * 100)
    return `${name.split('.')[0]} ${type} ${kind} ${moved}`
  })

test('a change is planned, and not made', async () => {
  const { status, plan, text } = await planOf(acme, [
    ['POST', `/pools/${ids.pool}/members`, { ipAddress: '192.0.2.3', port: 80 }],
  ])
  expect(status, text).toBe(200)
  expect(told(plan)).toEqual(['www A changed 33'])
  expect(planFaults(plan)).toBe('')
  expect(plan.summary).toMatchObject({
    names: 1,
    comparedNames: 1,
    movedMaxName: `www.${recordsZone}`,
  })
})

test('each request stands on those before it, and names what they would make', async () => {
  const { status, plan, text } = await planOf(acme, [
    ['POST', '/pools', { name: 'new' }],
    ['POST', '/pools/$0/members', { ipAddress: '192.0.2.10', port: 80 }],
    ['PATCH', `/services/${ids.service}`, { poolId: '$0' }],
    ['POST', '/records', { zone: recordsZone, name: 'text', type: 'TXT', values: ['"v"'] }],
  ])
  expect(status, text).toBe(200)
  const expected = ['text A removed 100', 'text TXT added -', 'www A changed 100']
  expect(told(plan).toSorted()).toEqual(expected)
})

test('a request that changes nothing has an empty plan', async () => {
  const { status, plan } = await planOf(acme, [['PATCH', `/pools/${ids.pool}`, { name: 'web' }]])
  expect([status, plan.summary['names'], plan.scenarios[0]?.changes]).toEqual([200, 0, []])
})

test('a tenant sees its own names, and only addresses of others', async () => {
  // The wildcard of zenith answers in its place.
  const { status, plan, text } = await planOf(acme, [['DELETE', `/services/${ids.service}`]])
  expect(status, text).toBe(200)
  const [change] = plan.scenarios[0]!.changes
  expect(told(plan)).toEqual(['www A changed 100'])
  expect(change).toMatchObject({ tenant: '', after: { policy: '' } })
  const { flows } = change!.movement!.ipv4
  expect(flows).toMatchObject([
    { from: { pool: 'web' }, to: { member: shared, pool: '', region: '' } },
    { from: { pool: 'web' }, to: { member: shared, pool: '', region: '' } },
  ])
  for (const word of ['secret', 'BUNKER', 'zenith', 'wild']) expect(text).not.toContain(word)
  const all = await planOf(rootKey, [['DELETE', `/services/${ids.service}`]])
  for (const word of ['secret', 'BUNKER', 'zenith']) expect(all.text).toContain(word)
  expect(all.plan.summary['comparedNames']).toBeGreaterThan(1)
})

test('names that others would change are not counted', async () => {
  const live = serving.live!
  onTestFinished(() => {
    serving.live = live
  })
  // The node answers nothing of what is accepted: as if all of it were still on its way.
  const empty = createCompiler({}).compile(settings, { commit: '' })
  assert(empty.ok, 'the settings alone compile')
  const loaded = loadBundle(empty.bundle.bytes)
  assert(loaded.ok, 'what compiles loads')
  serving.live = { ...live, bundle: loaded.value, state: createRoutingState(loaded.value, 1) }
  const { plan, text } = await planOf(acme, [down()])
  expect([plan.summary['names'], text.includes('secret'), text.includes('wild')]).toEqual([
    1,
    false,
    false,
  ])
})

const refusals: readonly (readonly [
  string,
  () => string,
  () => readonly Asked[],
  number,
  RegExp,
])[] = [
  [
    'who may not write',
    () => acme,
    () => [['POST', '/rpz/rules', {}]],
    403,
    /^requests\.0: permission denied/,
  ],
  [
    'an object of others',
    () => acme,
    () => [['PATCH', `/pools/${ids.others}`, { name: 'mine' }]],
    404,
    /^requests\.0: there is no such pool$/,
  ],
  [
    'the second of two',
    () => acme,
    () => [down(), ['POST', '/pools', { name: 'secret' }]],
    409,
    /^requests\.1: /,
  ],
  [
    'a body that its route refuses',
    () => acme,
    () => [['POST', '/pools', { nmae: 'x' }]],
    400,
    /^requests\.0: .*did you mean "name"/,
  ],
  ['a body where there is none', () => acme, () => [['DELETE', '/pools/x', {}]], 400, /takes none/],
  ['no body', () => acme, () => [['POST', '/pools']], 400, /^requests\.0: body: is empty/],
  [
    'what does not compile',
    () => acme,
    () => [['POST', `/pools/${ids.pool}/members`, { ipAddress: '300.1.1.1', port: 80 }]],
    400,
    /ipAddress/,
  ],
  ['a read', () => acme, () => [['GET', '/pools']], 400, /method/],
  [
    'what is not in Git',
    () => rootKey,
    () => [['POST', '/users', {}]],
    404,
    /no write of the conf/,
  ],
  ['a query', () => acme, () => [['POST', '/pools?dryRun=true', { name: 'x' }]], 404, /no write/],
  ['a place that is not there', () => acme, () => [['DELETE', '/pools/7']], 404, /no such pool/],
  [
    'a reference to what no request makes',
    () => acme,
    () => [
      ['POST', '/pools', { name: 'new' }],
      ['POST', '/pools/$3/members', { ipAddress: '192.0.2.10', port: 80 }],
    ],
    400,
    /^requests\.1: path: "\$3" stands for the id of what requests\.3 makes, and only requests\.0 /,
  ],
  [
    'a reference in a field to the request itself',
    () => acme,
    () => [down(), down(), ['PATCH', `/services/${ids.service}`, { poolId: '$2' }]],
    400,
    /^requests\.2: body\.poolId: "\$2" .* and only requests\.0 to 1 come before this one$/,
  ],
  [
    'a reference of the first request',
    () => acme,
    () => [['DELETE', '/pools/$0']],
    400,
    /^requests\.0: path: "\$0" .* and no request comes before this one$/,
  ],
  [
    'a reference to a request that makes nothing',
    () => acme,
    () => [
      ['DELETE', `/members/${ids.member}`],
      ['DELETE', '/pools/$0'],
    ],
    400,
    /^requests\.1: path: "\$0" .* and it makes nothing that has one$/,
  ],
  ['nothing', () => acme, () => [], 400, /requests/],
  ['too much', () => acme, () => Array.from({ length: 21 }, down), 400, /requests/],
]

test.each(refusals)('refused as the write would be: %s', async (_, by, asked, status, error) => {
  const answer = await planOf(by(), asked())
  expect([answer.status, answer.plan.error]).toEqual([status, expect.stringMatching(error)])
})

test('If-Match of a request is looked at', async () => {
  const { headers } = await world.call(acme, 'GET', `/pools/${ids.pool}`)
  const asked = (ifMatch: string) => ({
    requests: [
      { method: 'PATCH', path: api(`/pools/${ids.pool}`), body: { name: 'web2' }, ifMatch },
    ],
  })
  const statuses = [headers['etag']!, '"no"'].map(
    async (tag, i) =>
      // A tenant has one plan at a time.
      (await world.call([acme, rootKey][i]!, 'POST', '/plan', asked(tag))).status,
  )
  expect(await Promise.all(statuses)).toEqual([200, 412])
})

test('a tenant has one plan at a time; others are not kept waiting', async () => {
  const answers = await Promise.all([
    planOf(acme, [down()]),
    planOf(acme, [down()]),
    planOf(rootKey, [down()]),
  ])
  expect(answers.map(({ status }) => status)).toEqual([200, 429, 200])
  expect(answers[1].headers['retry-after']).toBe('1')
  expect((await planOf(acme, [down()])).status).toBe(200)
})

test('a plan is made at instants, and under the health of the node', async () => {
  const { state } = serving.live!
  const [first] = [state.memberHealthy.indexOf(1)]
  state.memberHealthy[first] = 0
  onTestFinished(() => {
    state.memberHealthy[first] = 1
  })
  const at = ['2026-01-01T00:00:00Z', '2027-01-01T00:00:00Z']
  const { plan } = await planOf(acme, [down()], { at, health: 'now' })
  expect(plan.scenarios.map((one) => [one.at.slice(0, 4), one.health])).toEqual([
    ['2026', 'all-up'],
    ['2026', 'given'],
    ['2027', 'all-up'],
    ['2027', 'given'],
  ])
  const bad = await planOf(acme, [down()], { at: ['tomorrow'] })
  expect([bad.status, bad.plan.error]).toEqual([400, expect.stringMatching(/^at\.0: /)])
})

const www = `the clients of www.${recordsZone} elsewhere`
const ofTenants = (...rows: readonly (readonly [string, number])[]): MoveLimits => ({
  tenants: Object.fromEntries(rows.map(([tenant, movedClients]) => [tenant, { movedClients }])),
})
const judged: readonly (readonly [string, MoveLimits, string | null])[] = [
  ['no limit', noLimits, null],
  ['as many as may', { movedClients: 50 }, null],
  [
    'more than may',
    { movedClients: 49 },
    `This would send 50 % of ${www}, more than 49 % (guardrails.movedClients).`,
  ],
  [
    'more than its tenant may',
    ofTenants(['acme', 10], ['*', 90]),
    `This would send 50 % of ${www}, more than 10 %, of tenant "acme" ` +
      '(guardrails.tenants, movedClients).',
  ],
  ['more than another tenant may', ofTenants(['zenith', 10]), null],
]

test.each(judged)('says what movedClients would refuse: %s', async (_, limit, sentence) => {
  limits.now = limit
  onTestFinished(() => {
    limits.now = noLimits
  })
  const { status, plan } = await planOf(acme, [down()])
  expect([status, plan.guardrail, told(plan)]).toEqual([200, sentence, ['www A changed 50']])
})

test('the files are shown that a commit would write, and one that would go', async () => {
  const path = 'tenants/acme/services/www.yaml'
  const { plan } = await planOf(acme, [['PATCH', `/services/${ids.service}`, { ttl: 7 }]])
  const before = world.git('show', `main:${path}`)
  expect(plan.files).toEqual([{ path, text: `${before}\n  ttl: 7\n` }])
  const gone = await planOf(acme, [['DELETE', `/services/${ids.service}`, undefined]])
  expect(gone.plan.files).toEqual([{ path, text: null }])
})

test('the answers that move most are listed, and the others counted', async () => {
  const records = ['a', 'b', 'c'].map((name): Asked => [
    'POST',
    '/records',
    { zone: recordsZone, name, type: 'TXT', values: ['"v"'] },
  ])
  const { plan } = await planOf(acme, [down(), ...records], { limit: 2 })
  const [scenario] = plan.scenarios
  expect([scenario?.changes.length, scenario!.omitted + 2]).toEqual([2, plan.summary['answers']])
})

test('a plan that takes too long and a node that answers nothing are reported', async () => {
  const parts = { clock: systemClock, moveLimits }
  const slow = new LivePlanner({ ...parts, node: () => serving.live, jobMs: 0 })
  const none = new LivePlanner({ ...parts, node: () => undefined })
  onTestFinished(async () => {
    Object.assign(world.ports, { planner })
    await slow.close()
  })
  for (const [one, words] of [
    [slow, 'too much time'],
    [none, 'answers nothing yet'],
  ] as const) {
    Object.assign(world.ports, { planner: one })
    const { status, plan, headers } = await planOf(acme, [down()])
    expect([status, plan.error, headers['retry-after'] !== undefined]).toEqual([
      503,
      expect.stringContaining(words),
      true,
    ])
  }
})

test('a tenant that would be made', async () => {
  const none = async () => ok([])
  const stores = { users: { list: none }, roles: { list: none }, alerts: { listChannels: none } }
  Object.assign(world.ports, stores)
  const { status, plan, text } = await planOf(rootKey, [['POST', '/tenants', { name: 'New' }]])
  expect([status, plan.summary?.['names']], text).toEqual([200, 0])
})
