// Tables of client networks: every address has the list that a look at all rows gives.
import { expect, test } from 'vitest'
import { plainRouting } from '#bundle/model.ts'
import type { ClientRange, ClientRanges } from '#bundle/model.ts'
import { Random } from '#lib/random.ts'
import { Chain } from '#routing/chain.ts'
import { createRoutingState } from '#routing/candidates.ts'
import { packNetworks } from '#routing/network-index.ts'
import { listOfRow, networkRow } from '#routing/networks.ts'
import { bareModel, bundleOf, pool, service, zone } from '#test/support/bundle-models.ts'

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
    ...bareModel,
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
