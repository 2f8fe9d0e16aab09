// Tables of client networks: every address has the list, and the scope, that a look at all rows
// gives.
import { expect, test } from 'vitest'
import { plainRouting } from '#bundle/format/model.ts'
import type { ClientRange, ClientRanges } from '#bundle/format/model.ts'
import { Random } from '#lib/random.ts'
import { Chain } from '#routing/chain/chain.ts'
import { createRoutingState } from '#routing/state/candidates.ts'
import { preferByGeoRule } from '#routing/choose/choose.ts'
import { preferMapped } from '#routing/ways/map-file.ts'
import { packNetworks } from '#routing/tables/network-index.ts'
import { listOfRow, networkRow } from '#routing/chain/networks.ts'
import { bundleOf, pool, service, zone } from '../../../support/bundle-models.ts'

const endpoints = ['192.0.2.1', '192.0.2.2', '192.0.2.3']

/** Disjoint, as close as they come, from the first address to the last. */
function randomRanges(random: Random, count: number): ClientRange<number>[] {
  const starts = new Set([0, 0xffff_ffff, 0x8000_0000])
  while (starts.size < count) {
    // Half of them crowd below one /16.
    starts.add(random.below(2) === 0 ? random.next() : 0x0a0a_0000 + random.below(0x1_0000))
  }
  const sorted = [...starts].sort((a, b) => a - b)
  return sorted.map((start, i) => ({
    start,
    end: (sorted[i + 1] ?? 2 ** 32) - 1,
    endpoints: [endpoints[i % endpoints.length]!],
  }))
}

/** The same below 2001:db8::/32, each address of 32 bits somewhere in it. */
function asIpv6(ranges: readonly ClientRange<number>[], shift: bigint): ClientRange<bigint>[] {
  const base = 0x2001_0db8n << 96n
  return ranges.map((range) => ({
    ...range,
    start: base + (BigInt(range.start) << shift),
    end: base + ((BigInt(range.end) + 1n) << shift) - 1n,
  }))
}

test.each([
  ['few rows, which are searched', 20, 64n],
  ['as few rows as have a table', 64, 64n],
  ['very many rows', 100_000, 64n],
  ['very many rows of hosts', 20_000, 7n],
])('%s: a client has the list that a look at the rows gives', (_name, count, shift) => {
  const random = new Random(count)
  const ranges = randomRanges(random, count)
  const both = (all: ClientRange<number>[]): ClientRanges => ({ v4: all, v6: asIpv6(all, shift) })
  const bundle = bundleOf({
    zones: [zone('test.')],
    pools: [
      pool(1, endpoints),
      pool(2, endpoints, { geoRules: both(randomRanges(random, count / 2)) }),
    ],
    services: [service(1, 'a.test.')],
    routing: { ...plainRouting, mapRules: both(ranges) },
  })
  const packed = packNetworks(bundle)
  expect(packed !== null).toBe(count >= 64)
  const state = createRoutingState(bundle, 1)
  const [plain, quick] = [new Chain(random), new Chain(random)]
  plain.adopt(bundle, state)
  quick.adopt(bundle, state, packed)
  const octets = Buffer.from('20010db8000000000000000000000000', 'hex')
  for (let i = 0; i < 20_000; i++) {
    const near = ranges[random.below(ranges.length)]!.start + random.below(3) - 1
    const address = random.below(2) === 0 ? random.next() : near >>> 0
    const isIpv6 = random.below(2) === 0
    if (isIpv6) octets.writeBigUInt64BE(BigInt(address) << (shift % 64n), shift === 64n ? 4 : 8)
    else octets.writeUInt32BE(address)
    for (const table of [0, 1]) {
      const lists = [plain, quick].map((chain) => {
        if (isIpv6) chain.client.set(octets, 0, 16)
        else chain.client.set(octets, 0, 4)
        return listOfRow(chain, table, networkRow(chain, table))
      })
      expect(lists[1]).toBe(lists[0])
    }
    octets.write('20010db8', 0, 'hex')
  }
})

/** Neighbours have other lists, and often the same first endpoint. */
function likeRanges(random: Random, count: number): ClientRange<number>[] {
  const ranges = randomRanges(random, count)
  let at = 0
  return ranges.map((range, i) => {
    if (random.below(4) === 0) at = random.below(3)
    const [first, second] = [endpoints[at]!, endpoints[(at + 1) % 3]!]
    return { ...range, endpoints: i % 2 === 0 ? [first] : [first, second] }
  })
}

test.each([
  ['as few rows as have one', 64, 64],
  ['few rows of one family', 20, 132],
  ['more rows than verdicts are kept of', 139, 132],
])('%s without an index: the scope of a client is the one with it', (_name, count4, count6) => {
  const random = new Random(count4)
  const rules = (): ClientRanges => ({
    v4: likeRanges(random, count4),
    v6: asIpv6(likeRanges(random, count6), 64n),
  })
  const bundle = bundleOf({
    zones: [zone('test.')],
    pools: [pool(1, endpoints, { geoRules: rules() })],
    services: [service(1, 'a.test.')],
    routing: { ...plainRouting, mapRules: rules() },
  })
  const state = createRoutingState(bundle, 1)
  const [plain, quick] = [new Chain(random), new Chain(random)]
  plain.adopt(bundle, state)
  quick.adopt(bundle, state, packNetworks(bundle))
  const octets = Buffer.from('20010db8000000000000000000000000', 'hex')
  const scopes = new Set<number>()
  for (let i = 0; i < 4_000; i++) {
    const start = random.below(2) === 0 ? 0 : 4
    const address = random.below(2) === 0 ? random.next() : 0x0a0a_0000 + random.below(0x1_0000)
    octets.writeUInt32BE(address, 4)
    for (const step of [preferMapped, preferByGeoRule]) {
      const [scope, wanted] = [plain, quick].map((chain) => {
        chain.client.set(octets, start, start === 0 ? 16 : 4)
        chain.wantsScope = true
        chain.startScope()
        chain.load(0, false)
        step(chain)
        return chain.scope
      })
      expect(scope).toBe(wanted)
      scopes.add(wanted!)
    }
  }
  expect(scopes.size).toBeGreaterThan(10)
})
