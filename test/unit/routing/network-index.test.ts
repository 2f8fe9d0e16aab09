// The index into client networks: every address is found in the row that a look at all rows gives.
import { expect, test } from 'vitest'
import { Network4Cell, NetworkCell } from '#bundle/client-ranges.ts'
import { plainRouting } from '#bundle/model.ts'
import type { ClientRange } from '#bundle/model.ts'
import { Random } from '#lib/random.ts'
import { Chain } from '#routing/chain.ts'
import { createRoutingState } from '#routing/candidates.ts'
import { networkIndex } from '#routing/network-index.ts'
import { networkRow } from '#routing/networks.ts'
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

test.each([
  ['few rows, which have no index', 20],
  ['as few rows as have one', 256],
  ['very many rows', 100_000],
])('%s: a row is found as without', (_name, count) => {
  const random = new Random(count)
  const ranges = randomRanges(random, count)
  const bundle = bundleOf({
    ...bareModel,
    zones: [zone('test.')],
    pools: [
      pool(1, endpoints),
      pool(2, endpoints, { geoRules: { v4: randomRanges(random, count / 2), v6: [] } }),
    ],
    services: [service(1, 'a.test.')],
    routing: { ...plainRouting, mapRules: { v4: ranges, v6: [] } },
  })
  const index = networkIndex(bundle)
  expect(index === undefined).toBe(count < 256)
  const state = createRoutingState(bundle, 1)
  const [plain, indexed] = [new Chain(random), new Chain(random)]
  plain.adopt(bundle, state)
  indexed.adopt(bundle, state, index)
  for (let i = 0; i < 20_000; i++) {
    const near = ranges[random.below(ranges.length)]!.start + random.below(3) - 1
    const address = random.below(2) === 0 ? random.next() : near >>> 0
    const octets = Buffer.alloc(4)
    octets.writeUInt32BE(address)
    for (const table of [0, 1]) {
      for (const chain of [plain, indexed]) chain.client.set(octets, 0, 4)
      const row = networkRow(indexed, table)
      expect(row).toBe(networkRow(plain, table))
      expect(bundle.network4[row * Network4Cell.Words]).toBeLessThanOrEqual(address)
      const start = bundle.networkTable[table * NetworkCell.Words + NetworkCell.Start4]!
      expect(row).toBeGreaterThanOrEqual(start)
    }
  }
})
