// Scripts in place, as simulations run them: through the chain, with the data that a node has.
import { expect, test } from 'vitest'
import { createRoutingState } from '#routing/candidates.ts'
import { Chain } from '#routing/chain.ts'
import { Random } from '#lib/random.ts'
import { parseAddress } from '#dns/address.ts'
import { parseName } from '#dns/name.ts'
import { script as filter } from '#routing/filters/script.ts'
import { GeoTables } from '#routing/geo/geo-tables.ts'
import { createEnvironment, noRoutingTables } from '#routing/environment.ts'
import { scriptBodiesOf, scriptSeatsOf } from '#routing/script/bodies.ts'
import { createScriptRunner } from '#routing/script/runner.ts'
import { Family } from '#routing/strategy.ts'
import {
  bareModel,
  bundleOf,
  member,
  pool,
  service,
  uid,
  zone,
} from '#test/support/bundle-models.ts'
import { geoBuffersOf } from '#test/support/routing-site.ts'

const bundle = bundleOf({
  ...bareModel,
  zones: [zone('example.org.')],
  pools: [
    pool(1, [
      member('192.0.2.1', { uid: uid(1), region: 'FR', weight: 2, priority: 5 }),
      member('192.0.2.2', { uid: uid(2), region: 'DE', weight: 3 }),
      member('2001:db8::1', { uid: uid(3), region: 'DE' }),
    ]),
  ],
  services: [
    service(1, 'a.example.org.', { filterChain: ['script:one', 'failover'], pool: 0 }),
    service(2, 'b.example.org.', { filterChain: ['script:two', 'script:one'], pool: 0 }),
    service(3, 'c.example.org.', { filterChain: ['failover'], pool: 0 }),
  ],
})
const geo = new GeoTables(
  geoBuffersOf({
    countries: [
      ['198.51.100.0/24', 'DE'],
      ['2001:db8:1::/48', 'FR'],
    ],
    operators: [['198.51.100.0/24', 64_500, 'Example']],
  }),
)

/** Runs a body as a step. */
async function run(
  body: string,
  client = '198.51.100.7',
  family: Family = Family.V4,
  { times = 1, elapsedMs = (): number => 0 } = {},
) {
  const runs: string[] = []
  const nowMs = (): number => 1_700_000_000_999
  const onRun = (outcome: string, message: string): void => void runs.push(outcome, message)
  const scripts = await createScriptRunner({ geo, nowMs, onRun, elapsedMs })
  const chain = new Chain(new Random(1))
  const state = createRoutingState(bundle, 1)
  state.memberRttMs[0] = 8
  state.memberScore[0] = 0.5
  chain.adopt(bundle, state)
  const [octets, name] = [parseAddress(client), parseName('www.example.org.')]
  if (!octets.ok || !name.ok) throw new Error('not an address or a name')
  chain.client.set(octets.value, 0, octets.value.length)
  chain.family = family
  chain.qname = name.value
  chain.qnameBytes = name.value.length
  chain.load(0)
  const step = filter.bind(createEnvironment(bundle, noRoutingTables, scripts), body)
  for (let i = 0; i < times; i++) step(chain)
  return { chosen: [...chain.members.slice(0, chain.count)], runs, scope: chain.scope }
}

test('a script orders and drops candidates, and looks at the whole address', async () => {
  const body = 'result = candidates.filter((c) => c.region === client.geo).map((c) => c.ip)'
  expect(await run(body)).toEqual({ chosen: [1], runs: ['done', ''], scope: 32 })
  const other = await run(body, '203.0.113.7')
  expect(other).toEqual({ chosen: [0, 1], runs: ['empty', ''], scope: 32 })
})

test.each([
  [
    'client.ip === "198.51.100.7" && client.subnet === "198.51.100.0/24"',
    '198.51.100.7',
    Family.V4,
  ],
  ['client.asn === 64500 && client.geo === "DE"', '198.51.100.7', Family.V4],
  ['client.asn === 0 && client.geo === ""', '203.0.113.7', Family.V4],
  ['client.ip === "198.51.100.7"', '::ffff:198.51.100.7', Family.V4],
  [
    'client.ip === "2001:db8:1:2::3" && client.subnet === "2001:db8:1::/48"',
    '2001:db8:1:2::3',
    Family.V4,
  ],
  ['client.geo === "FR"', '2001:db8:1:2::3', Family.V4],
  ['qname === "www.example.org." && now === 1700000000', '198.51.100.7', Family.V4],
  ['qtype === "A" && candidates.length === 2', '198.51.100.7', Family.V4],
  ['qtype === "AAAA" && candidates[0].ip === "2001:db8::1"', '198.51.100.7', Family.V6],
  [
    'JSON.stringify(candidates.find((c) => c.region === "FR")) === JSON.stringify(' +
      '{ ip: "192.0.2.1", region: "FR", weight: 2, priority: 5, health_score: 0.5, rtt_ms: 8 })',
    '198.51.100.7',
    Family.V4,
  ],
] as const)('%s', async (claim, client, family) => {
  const { runs } = await run(`result = ${claim} ? [candidates[0].ip] : []`, client, family)
  expect(runs).toEqual(['done', ''])
})

test('a failure leaves the candidates as they were, and says why', async () => {
  const failed = await run('candidates.nothing()')
  expect(failed).toMatchObject({ chosen: [0, 1], runs: ['exception', 'not a function'] })
})

test('a script that was ended is not run again', async () => {
  const { chosen, runs } = await run('for (;;);', '198.51.100.7', Family.V4, { times: 3 })
  expect(chosen).toEqual([0, 1])
  expect(runs).toEqual(['timeout', 'interrupted', 'benched', '', 'benched', ''])
})

test('a slow run is the last one of its script', async () => {
  let elapsedMs = 0
  const slow = { times: 3, elapsedMs: () => (elapsedMs += 300) }
  const { runs } = await run('result = []', '198.51.100.7', Family.V4, slow)
  expect(runs).toEqual(['empty', '', 'benched', '', 'benched', ''])
})

test('the scripts of a bundle, and who has them', () => {
  expect(new Set(scriptBodiesOf(bundle))).toEqual(new Set(['one', 'two']))
  const { starts, scripts, keys } = scriptSeatsOf(bundle, ['one', 'two'])
  const name = (key: string): string => key.split(' ')[0]!
  const ofTwo = keys.filter((_, seat) => new Uint32Array(scripts)[seat] === 1).map(name)
  expect([new Set(keys.map(name)), ofTwo]).toEqual([
    new Set(['a.example.org.', 'b.example.org.']),
    ['b.example.org.'],
  ])
  expect([new Set(keys).size, new Uint32Array(starts).at(-1)]).toEqual([3, 3])
})
