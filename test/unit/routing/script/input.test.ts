// Tests the input of scripts, from the data of a node, and the members that their answers mean.
import { beforeAll, describe, expect, test } from 'vitest'
import { createRoutingState } from '#routing/state/candidates.ts'
import { Client } from '#routing/chain/client.ts'
import { parseAddress } from '#dns/address.ts'
import { parseName } from '#dns/name.ts'
import { GeoTables } from '#routing/geo/geo-tables.ts'
import { namesOfSeat, scriptBodiesOf, scriptSeatsOf } from '#routing/script/bodies.ts'
import { loadScriptEngine } from '#routing/script/engine.ts'
import type { ScriptEngine } from '#routing/script/engine.ts'
import { positionsNamed, scriptQuestionOf } from '#routing/script/input.ts'
import { keepPools } from '#routing/script/kept-pools.ts'
import { bundleOf, member, pool, service, uid, zone } from '#test/support/bundle-models.ts'
import { geoBuffersOf } from '#test/support/routing-site.ts'

const bundle = bundleOf({
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
      ['198.51.101.0/24', 'US-CA'],
    ],
    operators: [['198.51.100.0/24', 64_500, 'Example']],
  }),
)

let engine: ScriptEngine
beforeAll(async () => {
  engine = await loadScriptEngine()
})

/** Members of the bundle: two of IPv4, then one of IPv6. */
const [v4, v6] = [Uint32Array.of(0, 1), Uint32Array.of(2)]

function run(body: string, address = '198.51.100.7', members = v4) {
  const state = createRoutingState(bundle, 1)
  state.memberRttMs[0] = 8
  state.memberScore[0] = 0.5
  const [octets, name] = [parseAddress(address), parseName('www.example.org.')]
  if (!octets.ok || !name.ok) throw new Error('not an address or a name')
  const client = new Client()
  client.set(octets.value, 0, octets.value.length)
  const query = { members, client, qname: name.value, isV6: members === v6, seed: 1 }
  const world = { bundle, state, geo, keptPools: new Map() }
  const question = scriptQuestionOf(world, query, 1_700_000_000_999)
  const { named, message } = engine.run(body, question)
  const order = new Uint32Array(members.length)
  return { named: [...order.slice(0, positionsNamed(question, named, order))], message }
}

test('a script orders and drops candidates', () => {
  const body = 'result = candidates.filter((c) => c.region === client.geo).map((c) => c.ip)'
  expect(run(body)).toEqual({ named: [1], message: '' })
  const other = { named: [], message: 'result names no candidate' }
  expect(run(body, '203.0.113.7')).toEqual(other)
})

test.each([
  ['client.ip === "198.51.100.7" && client.subnet === "198.51.100.0/24"', '198.51.100.7', v4],
  ['client.asn === 64500 && client.geo === "DE"', '198.51.100.7', v4],
  ['client.asn === 0 && client.geo === ""', '203.0.113.7', v4],
  ['client.ip === "198.51.100.7"', '::ffff:198.51.100.7', v4],
  ['client.ip === "2001:db8:1:2::3" && client.subnet === "2001:db8:1::/48"', '2001:db8:1:2::3', v4],
  ['client.geo === "US" && client.subdivision === "US-CA"', '198.51.101.7', v4],
  ['client.subdivisions.join() === "US-CA"', '198.51.101.7', v4],
  ['client.geo === "DE" && client.subdivision === ""', '198.51.100.7', v4],
  ['client.geo === "FR"', '2001:db8:1:2::3', v4],
  ['qname === "www.example.org." && now === 1700000000', '198.51.100.7', v4],
  ['qtype === "A" && candidates.length === 2', '198.51.100.7', v4],
  ['qtype === "AAAA" && candidates[0].ip === "2001:db8::1"', '198.51.100.7', v6],
  [
    'JSON.stringify(candidates.find((c) => c.region === "FR")) === JSON.stringify(' +
      '{ ip: "192.0.2.1", region: "FR", weight: 2, priority: 5, health_score: 0.5, rtt_ms: 8 })',
    '198.51.100.7',
    v4,
  ],
] as const)('%s', (claim, client, members) => {
  const { message } = run(`result = ${claim} ? [candidates[0].ip] : []`, client, members)
  expect(message).toBe('')
})

test('a failure says why', () => {
  expect(run('candidates.nothing()').message).toBe('TypeError: not a function (line 1)')
})

test('an address counts once, and for a candidate', () => {
  const all = 'result = ["192.0.2.2", "192.0.2.1", "192.0.2.2", "2001:db8::1"]'
  expect(run(all).named).toEqual([1, 0])
  expect(run(all, '198.51.100.7', Uint32Array.of(1)).named).toEqual([0])
  expect(run('result = ["192.0.2.1"]', '198.51.100.7', Uint32Array.of(1)).named).toEqual([])
})

describe('a large pool is kept in the engine', () => {
  const size = 60
  const address = (i: number): string => `192.0.2.${i >= 50 ? i - 50 : i}`
  /** The last ten have the addresses of the first ten, and other ports. */
  const members = Array.from({ length: size }, (_, i) =>
    member(address(i), { uid: uid(100 + i), port: 1_000 + i, weight: i + 1, region: `R${i}` }),
  )
  const small = [member('192.0.2.200', { uid: uid(99) })]
  const [others, sorry] = [300, 500].map((first) =>
    Array.from({ length: size }, (_, i) => member(`198.51.100.${i}`, { uid: uid(first + i) })),
  )
  const large = bundleOf({
    zones: [zone('example.org.')],
    pools: [pool(1, members), pool(2, small), pool(3, others!), pool(4, sorry!)],
    services: [
      service(1, 'a.example.org.', {
        filterChain: ['script:one'],
        pool: 0,
        onAllDown: { pool: 3 },
      }),
      service(2, 'b.example.org.', { filterChain: ['script:one'], pool: 1 }),
      service(3, 'c.example.org.', { filterChain: ['failover'], pool: 2 }),
    ],
  })
  const keep = () => {
    const { starts } = scriptSeatsOf(large, ['one'])
    return keepPools(engine, large, new Uint32Array(starts))
  }

  test('if a service with a script has it, or falls back on it', () => {
    expect([...keep().keys()]).toEqual([0, 3])
  })

  test('and gives what it gives when it is built for each run', () => {
    const state = createRoutingState(large, 1)
    const query = {
      members: Uint32Array.from({ length: 25 }, (_, i) => (i * 2 + 51) % size),
      client: new Client(),
      qname: Uint8Array.of(0),
      isV6: false,
      seed: 1,
    }
    const body =
      'result = candidates.filter((c) => c.weight % 3 === 0).sort((a, b) => b.weight - a.weight)' +
      '.map((c) => c.ip).concat(["192.0.2.49"], candidates.map((c) => c.region))'
    const [first, second] = [keep(), new Map()].map((keptPools) => {
      const question = scriptQuestionOf({ bundle: large, state, geo, keptPools }, query, 0)
      const order = new Uint32Array(size)
      const { named } = engine.run(body, question)
      return [...order.subarray(0, positionsNamed(question, named, order))]
    })
    expect(first!.length).toBeGreaterThan(5)
    expect(first).toEqual(second)
    engine.keep([])
  })
})

test('a seat is a step of a service of a tenant', () => {
  const bodies = ['one', 'two']
  const seats = scriptSeatsOf(bundle, bodies)
  const names = seats.keys.map((_, seat) => namesOfSeat(bundle, seats, bodies, seat))
  const tenant = 'default'
  expect(new Set(names)).toEqual(
    new Set([
      { tenant, service: 'a.example.org.', steps: [1] },
      { tenant, service: 'b.example.org.', steps: [1] },
      { tenant, service: 'b.example.org.', steps: [2] },
    ]),
  )
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
