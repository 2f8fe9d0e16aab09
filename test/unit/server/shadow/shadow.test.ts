// Queries that are computed with what answers and with another bundle: how their answers differ.
import { expect, test } from 'vitest'
import type { BundleModel } from '#bundle/format/model.ts'
import { signBundle } from '#bundle/signature/sign.ts'
import { noRoutingTables } from '#routing/choose/environment.ts'
import { setHealth } from '#routing/choose/explain.ts'
import { createRoutingState, rebuildPool } from '#routing/state/candidates.ts'
import type { SampledQuery } from '#answer/samples/query-samples.ts'
import { Shadow, shadowLimits } from '#server/shadow/shadow.ts'
import { bareModel, bundleOf, encode, member, newSigningKey } from '#test/support/bundle-models.ts'
import { pool, service, soa, zone } from '#test/support/bundle-models.ts'
import { query } from '#test/support/dns/message.ts'
import { FakeTime } from '#test/support/fake-time.ts'

const key = newSigningKey()
const trusted = [{ keyId: key.keyId, publicKey: key.publicKey }]
const addresses = ['192.0.2.1', '192.0.2.2', '192.0.2.3']
const now: BundleModel = {
  ...bareModel,
  zones: [zone('example.org.')],
  pools: [pool(1, addresses)],
  services: [service(1, 'www.example.org.')],
}
const asked = (text: string): SampledQuery => ({
  query: Uint8Array.from(query(text)),
  client: Uint8Array.of(198, 51, 100, 7),
})
const www = asked('www.example.org. A')

function signed(model: BundleModel): Uint8Array {
  const { bytes } = encode(model)
  const shared = new Uint8Array(new SharedArrayBuffer(bytes.length))
  shared.set(bytes)
  signBundle(shared, key)
  return shared
}

function scene() {
  const bundle = bundleOf(now)
  const state = createRoutingState(bundle, 1)
  const live = { bundle, state, tables: noRoutingTables, commit: 'c' }
  const time = new FakeTime(1_000_000)
  const turned: boolean[] = []
  let queries: readonly SampledQuery[] = []
  const shadow = new Shadow({
    live: () => live,
    samples: { turn: (isOn) => void turned.push(isOn), drain: () => queries },
    trusted,
    clock: time.clock,
  })
  const compare = (...asks: readonly SampledQuery[]): number | undefined => {
    queries = asks
    shadow.tick()
    return shadow.counts()?.changed
  }
  return { shadow, live, time, turned, compare }
}

const priorities = (...all: readonly number[]) =>
  pool(
    1,
    addresses.map((address, i) => member(address, { priority: all[i]! })),
  )
const weights = (...all: readonly number[]) =>
  pool(
    1,
    addresses.map((address, i) => member(address, { weight: all[i]! })),
  )

test.each<readonly [what: string, next: Partial<BundleModel>, changed: number]>([
  ['the same', {}, 0],
  ['another TTL', { services: [service(1, 'www.example.org.', { ttlSeconds: 5 })] }, 0],
  ['another name as well', { services: [...now.services, service(2, 'w2.example.org.')] }, 0],
  ['no such name', { services: [] }, 1],
  ['other members', { pools: [pool(1, ['192.0.2.9'])] }, 1],
  ['one of three less', { pools: [pool(1, addresses.slice(0, 2))] }, 1 / 3],
  ['one member more', { pools: [pool(1, [...addresses, '192.0.2.4'])] }, 1 / 4],
  ['one that has nobody', { pools: [pool(1, [])] }, 1],
])('%s', (_what, next, changed) => {
  const { shadow, compare } = scene()
  expect(shadow.begin(signed({ ...now, ...next })).ok).toBe(true)
  expect(compare(www)).toBeCloseTo(changed, 2)
  expect(shadow.counts()?.compared).toBe(1)
})

test('a negative answer differs for no serial, and for another code it does', () => {
  const { shadow, compare } = scene()
  const other = zone('example.org.', { soa: { ...soa, minimumSeconds: 31 } })
  shadow.begin(signed({ ...now, zones: [other] }))
  expect(compare(asked('nope.example.org. A'), asked('example.org. SOA'))).toBe(0)
  expect(compare(asked('www.example.org. TXT'), asked('www.example.com. A'))).toBe(0)
})

test('dice fall the same for both: weights that move a share move that share', () => {
  const drawn = (parts: Partial<BundleModel>): BundleModel => ({
    ...now,
    services: [service(1, 'www.example.org.', { algorithm: 'weighted-round-robin' })],
    ...parts,
  })
  const { shadow, live, compare } = scene()
  Object.assign(live, { bundle: bundleOf(drawn({ pools: [weights(50, 50, 0)] })) })
  live.state = createRoutingState(live.bundle, 1)
  shadow.begin(signed(drawn({ pools: [weights(60, 40, 0)] })))
  const many = Array.from({ length: 200 }, () => www)
  expect(compare(...many)! / many.length).toBeCloseTo(0.1, 1)
})

test('both go by the health that the node has found', () => {
  const { shadow, live, time, compare } = scene()
  const failover = [service(1, 'www.example.org.', { algorithm: 'failover' })]
  const before: BundleModel = { ...now, services: failover, pools: [priorities(1, 2, 3)] }
  Object.assign(live, { bundle: bundleOf(before) })
  live.state = createRoutingState(live.bundle, 1)
  shadow.begin(signed({ ...before, pools: [priorities(1, 3, 2)] }))
  expect(compare(www), 'the first one answers').toBe(0)
  setHealth(live.bundle, live.state, new Map([['pool-1/192.0.2.1', { healthy: false }]]))
  rebuildPool(live.bundle, live.state, 0)
  expect(compare(www), 'both go by what was found before').toBe(0)
  time.pass(shadowLimits.carryMs)
  expect(compare(www), 'now the second one differs').toBe(1)
})

test('the serving state is not touched: no turn is taken', () => {
  const { shadow, live, compare } = scene()
  const cursors = [...live.state.serviceCursor]
  shadow.begin(signed({ ...now, pools: [pool(1, ['192.0.2.9'])] }))
  compare(www, www)
  expect([...live.state.serviceCursor]).toEqual(cursors)
})

test('a bundle of another key, or no bundle, is refused with a reason, and nothing begins', () => {
  const { shadow, turned } = scene()
  const unsigned = encode(now).bytes
  expect(shadow.begin(unsigned)).toMatchObject({ ok: false, error: { code: 'bad-bundle' } })
  expect(shadow.begin(new Uint8Array(5))).toMatchObject({ ok: false })
  expect([shadow.digest, shadow.counts(), turned]).toEqual(['', null, []])
})

test('counts are of one bundle, totals of all; the end turns sampling off', () => {
  const { shadow, turned, compare } = scene()
  shadow.begin(signed({ ...now, pools: [pool(1, ['192.0.2.9'])] }))
  compare(www, www)
  shadow.begin(signed(now))
  compare(www)
  expect(shadow.counts()).toMatchObject({ compared: 1, changed: 0 })
  shadow.end()
  shadow.end()
  compare(www)
  expect([shadow.counts(), shadow.digest, shadow.totals()]).toEqual([
    null,
    '',
    { compared: 3, changed: 2 },
  ])
  expect(turned).toEqual([true, true, false])
})

test('octets that are no query, and a query of another zone, do no harm', () => {
  const { shadow, compare } = scene()
  shadow.begin(signed({ ...now, pools: [pool(1, ['192.0.2.9'])] }))
  const odd = [
    new Uint8Array(3),
    new Uint8Array(12),
    Uint8Array.from(query('x.test. A')).fill(0xff, 12),
  ]
  const client = Uint8Array.of(192, 0, 2, 1)
  expect(compare(...odd.map((octets) => ({ query: octets, client })))).toBe(0)
})
