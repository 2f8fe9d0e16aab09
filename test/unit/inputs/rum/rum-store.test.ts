// Real-user measurements: what the answer path reads is what the store has kept, and nothing else.
import { Worker } from 'node:worker_threads'
import { once } from 'node:events'
import fc from 'fast-check'
import { describe, expect, onTestFinished, test } from 'vitest'
import { parseAddress } from '#dns/address.ts'
import { Random } from '#lib/random.ts'
import { createRoutingState } from '#routing/state/candidates.ts'
import { Chain } from '#routing/chain/chain.ts'
import { RumHeader, RumResult, RumTable } from '#routing/rum/table.ts'
import { rumMembers, rumTargetOf, wordsOfUid } from '#routing/rum/targets.ts'
import { isRumLatency, rumLimits, RumStore } from '#inputs/rum/rum-store.ts'
import { bundleOf, member, pool, service, uid, zone } from '../../../support/bundle-models.ts'

const members = [1, 2, 3, 4].map((number) =>
  member(`192.0.2.${number}`, { uid: uid(number), rumUrl: `https://m${number}.example.org/` }),
)
const bundle = bundleOf({
  zones: [zone('example.org.')],
  pools: [
    pool(1, [
      ...members,
      member('192.0.2.5', { uid: uid(5) }),
      member('2001:db8::6', { uid: uid(6), rumUrl: 'https://m6.example.org/' }),
    ]),
    pool(2, [
      member('192.0.2.7', { uid: uid(7), rumUrl: 'https://m7.example.org/' }),
      member('192.0.2.7', { uid: uid(8), rumUrl: 'https://m7.example.org/' }),
    ]),
  ],
  services: [
    service(1, 'www.example.org.', { filterChain: ['rum'], pool: 0 }),
    service(2, 'none.example.org.', { filterChain: ['rum'], pool: -1 }),
    service(3, 'ports.example.org.', { filterChain: ['rum'], pool: 1 }),
  ],
})
const targets = rumMembers(bundle, 'www.example.org.').map((member) => ({
  ...rumTargetOf(bundle, member),
  uid: wordsOfUid(bundle, member),
}))
const state = createRoutingState(bundle, 1)

function octets(address: string): Uint8Array {
  const parsed = parseAddress(address)
  if (!parsed.ok) throw new Error(parsed.error)
  return parsed.value
}

function newStore() {
  const time = { ms: 1_000_000 }
  const store = new RumStore({ nowMs: () => time.ms, monotonicMs: () => time.ms })
  const chain = new Chain(new Random(1))
  chain.adopt(bundle, state)
  const table = new RumTable(store.buffer, bundle)
  const fastest = (client: string): number => {
    const address = octets(client)
    chain.client.set(address, 0, address.length)
    chain.load(0, false)
    return table.fastest(chain)
  }
  const record = (client: string, target: number, latencyMs: number): void =>
    store.record(octets(client), targets[target]!.uid, latencyMs)
  return { store, time, fastest, record, table, chain }
}

describe('members that may be measured', () => {
  test.each([
    ['www.example.org.', [0, 1, 2, 3, 5]],
    ['WWW.Example.org', [0, 1, 2, 3, 5]],
    ['ports.example.org', [6, 7]],
    ['none.example.org.', []],
    ['example.org.', []],
    ['www.example.com.', []],
    ['..', []],
  ])('%s', (domain, expected) => {
    expect(rumMembers(bundle, domain)).toEqual(expected)
  })

  test('says where', () => {
    expect(targets[1]).toMatchObject({ ip: '192.0.2.2', rumUrl: 'https://m2.example.org/' })
  })

  test.each([
    [0.001, true],
    [60_000, true],
    [0, false],
    [-1, false],
    [60_000.1, false],
    [NaN, false],
    [Infinity, false],
  ])('%d ms: %s', (latencyMs, expected) => {
    expect(isRumLatency(latencyMs)).toBe(expected)
  })
})

test.each([
  ['a member with an address to measure', 'www.example.org', '192.0.2.1', 10, 1],
  ['a member without one', 'www.example.org', '192.0.2.5', 10, 0],
  ['no member', 'www.example.org', '192.0.2.9', 10, 0],
  ['no address', 'www.example.org', 'x', 10, 0],
  ['another domain', 'none.example.org', '192.0.2.1', 10, 0],
  ['a domain that is none', '...', '192.0.2.1', 10, 0],
  ['a latency that cannot be', 'www.example.org', '192.0.2.1', 60_001, 0],
  ['an IPv6 member, written otherwise', 'www.example.org', '2001:DB8:0::6', 10, 1],
  ['the IPv6 form of a member', 'www.example.org', '::ffff:192.0.2.1', 10, 0],
  ['two members of one address', 'ports.example.org', '192.0.2.7', 10, 2],
])('a sample of %s', (_, domain, ip, latencyMs, measured) => {
  const { store } = newStore()
  const samples = [{ ip, latencyMs }]
  const accepted = Math.min(measured, 1)
  expect(store.ingest(bundle, domain, octets('198.51.100.7'), samples)).toBe(accepted)
  expect(store.status().measurements).toBe(measured)
})

test('one sample of a request counts for an address, however it is written', () => {
  const { store } = newStore()
  const samples = ['2001:db8::6', '192.0.2.1', '2001:DB8:0::6', '192.0.2.1'].map((ip) => ({
    ip,
    latencyMs: 10,
  }))
  expect(store.ingest(bundle, 'www.example.org', octets('198.51.100.7'), samples)).toBe(2)
})

test('the lowest latency of the client’s network counts, and of no other', () => {
  const { fastest, record } = newStore()
  expect(fastest('198.51.100.7')).toBe(RumResult.Nowhere)
  record('198.51.100.7', 0, 50)
  record('198.51.100.200', 2, 20)
  record('203.0.113.1', 1, 1)
  record('2001:db8:1:2::3', 3, 9)
  expect(fastest('198.51.100.99')).toBe(2)
  expect(fastest('::ffff:198.51.100.99')).toBe(2)
  expect(fastest('203.0.113.254')).toBe(1)
  expect(fastest('2001:db8:1:ffff::')).toBe(3)
  expect(fastest('2001:db8:2::')).toBe(RumResult.NotHere)
  expect(fastest('198.51.101.7')).toBe(RumResult.NotHere)
})

test('an average follows its samples', () => {
  const { fastest, record } = newStore()
  record('198.51.100.7', 0, 100)
  record('198.51.100.7', 1, 80)
  record('198.51.100.7', 0, 50)
  // 100 + 0.3 * (50 - 100) = 85
  expect(fastest('198.51.100.7')).toBe(1)
  record('198.51.100.7', 0, 50)
  expect(fastest('198.51.100.7')).toBe(0)
})

test('a measurement is forgotten after 30 minutes, each by itself', () => {
  const { fastest, record, store, time } = newStore()
  record('198.51.100.7', 0, 10)
  time.ms += rumLimits.expiryMs - 1
  record('198.51.100.7', 1, 99)
  expect(fastest('198.51.100.7')).toBe(0)
  time.ms += 1
  store.sweep()
  expect(fastest('198.51.100.7')).toBe(1)
  expect(store.status()).toMatchObject({ subnets: 1, measurements: 1 })
  time.ms += rumLimits.expiryMs
  expect(store.status()).toEqual({ subnets: 0, measurements: 0, subnetsByMember: new Map() })
  expect(fastest('198.51.100.7')).toBe(RumResult.Nowhere)
})

test('the subnet measured longest ago makes room for another', () => {
  const { fastest, record, store, time } = newStore()
  const subnet = (i: number): string => `10.${i >> 8}.${i & 255}.9`
  for (let i = 0; i < rumLimits.subnetsMax; i++) {
    time.ms++
    record(subnet(i), i & 3, 10)
  }
  record(subnet(0), 0, 10)
  record('198.51.100.1', 1, 10)
  record('198.51.101.1', 1, 10)
  expect(store.status()).toMatchObject({ subnets: 50_000, measurements: 50_000 })
  expect([0, 1, 2, 3].map((i) => fastest(subnet(i)))).toEqual([
    0,
    RumResult.NotHere,
    RumResult.NotHere,
    3,
  ])
  expect(fastest('198.51.100.200')).toBe(1)
})

test('the status counts subnets by member', () => {
  const { record, store } = newStore()
  record('198.51.100.1', 0, 10)
  record('198.51.101.1', 0, 10)
  record('198.51.101.1', 1, 10)
  expect(store.status()).toEqual({
    subnets: 2,
    measurements: 3,
    subnetsByMember: new Map([
      [uid(1), 2],
      [uid(2), 1],
    ]),
  })
  expect(store.status((one) => one === uid(2))).toEqual({
    subnets: 1,
    measurements: 1,
    subnetsByMember: new Map([[uid(2), 1]]),
  })
})

test('while the writer is at work, measurements are passed over, not waited for', () => {
  const { fastest, record, store } = newStore()
  record('198.51.100.1', 0, 10)
  const cells = new Int32Array(store.buffer, 0, RumHeader.Words)
  cells[RumHeader.Version]! += 1
  expect(fastest('198.51.100.1')).toBe(RumResult.NotHere)
  cells[RumHeader.Version]! += 1
  expect(fastest('198.51.100.1')).toBe(0)
})

test('the table holds what a list of averages holds, after any samples and any time', () => {
  // Few networks, so that they meet again; all that is forgotten leaves holes in the table.
  const network = fc
    .nat(40)
    .map((i) => (i % 2 === 0 ? `10.0.${i}.1` : `2001:db8:${i.toString(16)}::1`))
  const step = fc.record({
    network,
    target: fc.nat(3),
    latencyMs: fc.integer({ min: 1, max: 60_000 }),
    waitMs: fc.oneof(fc.constant(0), fc.nat(900_000)),
  })
  fc.assert(
    fc.property(fc.array(step, { minLength: 1, maxLength: 120 }), (steps) => {
      const { fastest, record, store, time } = newStore()
      const model = new Map<string, { network: string; target: number; ms: number; at: number }>()
      for (const { network: client, target, latencyMs, waitMs } of steps) {
        time.ms += waitMs
        record(client, target, latencyMs)
        const key = `${client} ${target}`
        const known = model.get(key)
        const isKnown = known !== undefined && time.ms - known.at < rumLimits.expiryMs
        const ms = isKnown ? known.ms + rumLimits.alpha * (latencyMs - known.ms) : latencyMs
        model.set(key, { network: client, target, ms, at: time.ms })
      }
      const live = [...model.values()].filter(({ at }) => time.ms - at < rumLimits.expiryMs)
      store.sweep()
      expect(store.status().measurements).toBe(live.length)
      for (const { network: client } of model.values()) {
        const here = live.filter((entry) => entry.network === client)
        const lowest = Math.min(...here.map(({ ms }) => Math.fround(ms)))
        const best = here.filter(({ ms }) => Math.fround(ms) === lowest).map(({ target }) => target)
        const found = fastest(client)
        if (here.length > 0) expect(best).toContain(found)
        else expect(found).toBeLessThan(0)
      }
    }),
    { numRuns: 30 },
  )
})

test('a reader beside the writer never gets another network’s number', async () => {
  const worker = new Worker(new URL('../../../support/rum-writer.ts', import.meta.url), {
    workerData: targets.map((target) => target.uid),
  })
  onTestFinished(async () => void (await worker.terminate()))
  const [shared] = (await once(worker, 'message')) as [SharedArrayBuffer]
  const { chain } = newStore()
  const table = new RumTable(shared, bundle)
  const seen = [0, 0, 0]
  const deadline = performance.now() + 1_000
  for (let i = 0; performance.now() < deadline || seen[2] === 0; i++) {
    const network = i % 256
    chain.client.set(Uint8Array.of(10, 0, network, 1), 0, 4)
    chain.load(0, false)
    const found = table.fastest(chain)
    // The writer measures one member from each network; the others would be a mix-up.
    if (found >= 0) expect(found).toBe(network % 4)
    seen[Math.min(found, 0) + 2]!++
  }
  expect(seen[2]).toBeGreaterThan(0)
})

test('bundles keep member uids where words can be read', () => {
  expect(bundle.memberUid.byteOffset % 4).toBe(0)
})

describe('a network that reports', () => {
  const all = () => true

  test('is counted by report, not by sample, and the less the older it is', () => {
    const { store, time } = newStore()
    const both = ['192.0.2.1', '192.0.2.2'].map((ip) => ({ ip, latencyMs: 20 }))
    const report = (client: string, domain = 'www.example.org', samples = both): void => {
      expect(store.ingest(bundle, domain, octets(client), samples)).toBe(samples.length)
    }
    report('198.51.100.7')
    report('198.51.100.200')
    time.ms += rumLimits.reportHalfLifeMs
    report('::ffff:198.51.100.8')
    // Two members of one address.
    report('2001:db8:ffff:2::3', 'ports.example.org', [{ ip: '192.0.2.7', latencyMs: 9 }])
    expect([...store.reportsByNetwork(all)]).toEqual([
      ['198.51.100.0/24', 2],
      ['2001:db8:ffff::/48', 1],
    ])
    const ofPorts = new Set([uid(7), uid(8)])
    expect([...store.reportsByNetwork((one) => ofPorts.has(one))]).toEqual([
      ['2001:db8:ffff::/48', 1],
    ])
    time.ms += rumLimits.expiryMs - 1
    report('203.0.113.1')
    expect([...store.reportsByNetwork(all)]).toEqual([
      ['198.51.100.0/24', expect.closeTo(0.25, 5)],
      ['2001:db8:ffff::/48', expect.closeTo(0.125, 5)],
      ['203.0.113.0/24', 1],
    ])
    time.ms += 1
    expect([...store.reportsByNetwork(all).keys()]).toEqual(['203.0.113.0/24'])
  })

  test('is nothing where the samples are rejected', () => {
    const { store } = newStore()
    store.ingest(bundle, 'www.example.org', octets('198.51.100.7'), [{ ip: 'x', latencyMs: 1 }])
    expect(store.reportsByNetwork(all).size).toBe(0)
  })
})
