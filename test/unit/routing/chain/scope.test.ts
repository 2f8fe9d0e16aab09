// How far a client's network is widened, against widening it bit by bit.
import { expect, test } from 'vitest'
import { Random } from '#lib/random.ts'
import { Chain } from '#routing/chain/chain.ts'
import { RangeTable, buildRangeTable } from '#routing/tables/range-table.ts'
import { Verdict } from '#routing/chain/scope-cache.ts'
import { LikenessKind, effortMax, needAlike } from '#routing/chain/scope.ts'
import type { Likeness } from '#routing/chain/scope.ts'
import { drawMax, filledPerMs, reserveMax } from '#routing/chain/work-reserve.ts'
import { laneCount } from '#test/support/lane.ts'

/** Ranges without a gap, each of a value of its own: 1, 2, 3 … */
function partition(starts: readonly bigint[], bits: number) {
  const sorted = [...new Set([0n, ...starts])].sort((a, b) => (a < b ? -1 : 1))
  return sorted.map((start, i) => ({
    start,
    end: (sorted[i + 1] ?? 1n << BigInt(bits)) - 1n,
    value: i + 1,
  }))
}

const likeness = (isAlike: (value: number) => boolean): Likeness => ({
  kind: LikenessKind.MapFile,
  isAlike: (_chain, value) => isAlike(value),
})

type Ranges = ReturnType<typeof partition>

function tableOf(ranges: Ranges, isIpv6: boolean): RangeTable {
  const numbers = ({ start, end, value }: Ranges[number]) => {
    return { start: Number(start), end: Number(end), value }
  }
  return new RangeTable(
    isIpv6 ? buildRangeTable([], ranges) : buildRangeTable(ranges.map(numbers), []),
  )
}

function octetsOf(address: bigint, isIpv6: boolean): Uint8Array {
  return Buffer.from(address.toString(16).padStart(isIpv6 ? 32 : 8, '0'), 'hex')
}

/** @param from and `to`: values that are alike, the client's among them */
function scopeOf(ranges: Ranges, address: bigint, isIpv6: boolean, from: number, to: number) {
  const chain = new Chain(new Random(1))
  const table = tableOf(ranges, isIpv6)
  chain.client.set(octetsOf(address, isIpv6), 0, isIpv6 ? 16 : 4)
  chain.count = 2
  chain.wantsScope = true
  const row = ranges.findIndex(({ start, end }) => start <= address && address <= end)
  needAlike(
    chain,
    table,
    row,
    likeness((value) => value >= from && value <= to),
  )
  return chain.scope
}

function referenceScope(low: bigint, high: bigint, address: bigint, bits: number): number {
  for (let length = 0; length < bits; length++) {
    const size = 1n << BigInt(bits - length)
    const first = (address / size) * size
    if (first >= low && first + size - 1n <= high) return length
  }
  return bits
}

/** Half of the IPv6 addresses share their first words, so that the later ones decide. */
function randomAddress(random: Random, isIpv6: boolean): bigint {
  if (!isIpv6) return BigInt(random.next())
  const words = [0x2a00_1450, 0, 0, random.next()]
  for (let i = random.below(4); i < 3; i++) words[i] = random.next()
  return words.reduce((address, word) => (address << 32n) | BigInt(word), 0n)
}

test.each([
  ['IPv4', false],
  ['IPv6', true],
])('the smallest network of an %s address in which all are alike is found', (_family, isIpv6) => {
  const random = new Random(3)
  const bits = isIpv6 ? 128 : 32
  for (let i = 0; i < laneCount(300, 60); i++) {
    const ranges = partition(
      Array.from({ length: 60 }, () => randomAddress(random, isIpv6)),
      bits,
    )
    const address = randomAddress(random, isIpv6)
    const own = ranges.find(({ start, end }) => start <= address && address <= end)!.value
    const from = Math.max(1, own - random.below(18))
    const to = Math.min(ranges.length, own + random.below(18))
    const wanted = referenceScope(ranges[from - 1]!.start, ranges[to - 1]!.end, address, bits)
    expect(scopeOf(ranges, address, isIpv6, from, to)).toBe(wanted)
  }
})

test('the address before a network is looked at through all words', () => {
  const start = 0x2a00_0000n << 96n
  const ranges = partition([start, start + 6n], 128)
  expect(scopeOf(ranges, start, true, 2, 2)).toBe(126)
  expect(scopeOf(ranges, start, true, 2, 3)).toBe(7)
  expect(scopeOf(ranges, start, true, 1, 3)).toBe(0)
})

/** Each a value of its own, four times as many as a query can compare; all are alike. */
const many = partition(
  Array.from({ length: effortMax * 4 }, (_, i) => BigInt(i) << 16n),
  32,
)

/** Time, and so the reserve of the chains, moves by hand. */
let nowMs = 0

function chainFor(client: Uint8Array, count: number): Chain {
  const chain = new Chain(new Random(1), () => nowMs)
  chain.client.set(client, 0, client.length)
  chain.count = count
  chain.wantsScope = true
  return chain
}

/** As one after many others that have drawn on the reserve. */
function poorChainFor(client: Uint8Array, count: number): Chain {
  const chain = chainFor(client, count)
  while (chain.alike.reserve.draw());
  return chain
}

/** A query after which every value is known to be alike. */
function scopeOfAll(chain: Chain, table: RangeTable): number {
  chain.startScope()
  needAlike(
    chain,
    table,
    224,
    likeness(() => true),
  )
  return chain.scope
}

test('where very many values are alike the reserve of the thread pays for the first query', () => {
  const chain = chainFor(Uint8Array.of(0, 224, 0, 0), 2)
  expect(scopeOfAll(chain, tableOf(many, false))).toBe(0)
})

test('without a reserve the scope is too long at first, then exact', () => {
  const chain = poorChainFor(Uint8Array.of(0, 224, 0, 0), 2)
  const table = tableOf(many, false)
  const scopes = Array.from({ length: 40 }, () => scopeOfAll(chain, table))
  expect(scopes[0]).toBeGreaterThan(0)
  expect(scopes[0]).toBeLessThan(16)
  expect(scopes.at(-1)).toBe(0)
})

test('draws of queries on the reserve take a small share of a thread', () => {
  const chain = poorChainFor(Uint8Array.of(0, 224, 0, 0), 2)
  const table = tableOf(many, false)
  let exact = 0
  // Ten seconds of queries that all need more than their own share.
  const queries = 10_000
  for (let i = 0; i < queries; i++) {
    nowMs++
    chain.alike.clear()
    if (scopeOfAll(chain, table) === 0) exact++
  }
  const needed = many.length * 2
  expect(exact).toBeGreaterThan((queries * filledPerMs - reserveMax) / drawMax)
  expect(exact).toBeLessThan((queries * filledPerMs + reserveMax) / (needed - effortMax))
})

test.each([2, 64, 65, 1_000, 4_096])('%s candidates: what is known of them is kept', (count) => {
  const chain = chainFor(Uint8Array.of(0, 224, 0, 0), count)
  for (let i = 0; i < count; i++) chain.members[i] = i
  const table = tableOf(many, false)
  let asked = 0
  const scopeNow = (isAlike: boolean): number => {
    chain.startScope()
    needAlike(
      chain,
      table,
      224,
      likeness(() => ++asked > 0 && isAlike),
    )
    return chain.scope
  }
  for (let i = 0; i < 200 && scopeNow(true) > 0; i++) nowMs += 1_000
  asked = 0
  expect(scopeNow(true)).toBe(0)
  // The rows beside the client's are looked at before nodes are.
  expect(asked).toBeLessThanOrEqual(2)
  chain.members[count - 1] = 9_999
  expect(scopeNow(false)).toBe(16)
})

test('results found around one client are right for all others', () => {
  const random = new Random(4)
  for (let i = 0; i < 20; i++) {
    const starts = Array.from({ length: 4_000 }, () => randomAddress(random, false))
    const ranges = partition(starts, 32)
    const table = tableOf(ranges, false)
    const chain = chainFor(Uint8Array.of(0, 0, 0, 0), 2)
    // Every so many rows one is not alike: stretches of all lengths.
    const isAlike = (value: number): boolean => value % (16 << (i & 7)) !== 5
    for (let client = 0; client < 200; client++) {
      const row = random.below(ranges.length)
      if (!isAlike(row + 1)) continue
      const address = ranges[row]!.start
      let [low, high] = [row, row]
      while (low > 0 && isAlike(low)) low--
      while (high < ranges.length - 1 && isAlike(high + 2)) high++
      chain.client.set(octetsOf(address, false), 0, 4)
      chain.startScope()
      needAlike(chain, table, row, likeness(isAlike))
      const wanted = referenceScope(ranges[low]!.start, ranges[high]!.end, address, 32)
      expect(chain.scope).toBe(wanted)
    }
  }
})

test('results for other candidates, another choice or another table do not count', () => {
  const chain = chainFor(Uint8Array.of(1, 2, 3, 4), 2)
  // The second row is alike for the first query and for no other.
  const starts = [1n << 24n, 2n << 24n, 3n << 24n]
  const scopeWhen = (isAlike: boolean, table: RangeTable): number => {
    chain.scope = 0
    needAlike(
      chain,
      table,
      1,
      likeness((value) => isAlike || value === 2),
    )
    return chain.scope
  }
  const table = tableOf(partition(starts, 32), false)
  expect(scopeWhen(true, table)).toBe(0)
  chain.members[1] = 7
  expect(scopeWhen(false, table)).toBe(8)
  chain.picked = 1
  expect(scopeWhen(true, table)).toBe(0)
  chain.alike.clear()
  expect(scopeWhen(false, table)).toBe(8)
})

test.each([2, 64, 65, 4_096])('among %s candidates the values compared are bounded', (count) => {
  for (const [newChain, effort] of [
    [poorChainFor, effortMax],
    [chainFor, effortMax + drawMax],
  ] as const) {
    const chain = newChain(Uint8Array.of(0, 224, 0, 0), count)
    let asked = 0
    // Two steps of one query.
    for (const kind of [LikenessKind.MapFile, LikenessKind.Country]) {
      const all = { ...likeness(() => ++asked > 0), kind }
      needAlike(chain, tableOf(many, false), 224, all)
    }
    expect(asked).toBeGreaterThan(0)
    expect(asked).toBeLessThanOrEqual((effort + effortMax) / (2 + Math.floor(count / 4)) + 4)
  }
})

test('a group that no effort was left for is looked at by a later query', () => {
  // 256 groups of 80 values: the first ones are looked at row by row, the others as a whole.
  const starts = Array.from({ length: 256 * 80 }, (_, i) => BigInt(i) << 16n)
  const table = tableOf(partition(starts, 32), false)
  const alike: Likeness = {
    ...likeness(() => true),
    ofGroup: (_chain, group) => (group < 5 ? Verdict.Mixed : Verdict.Alike),
  }
  // Efforts that end at one place or another: at a group, too.
  const last = Array.from({ length: 64 }, (_, i) => {
    const chain = poorChainFor(Uint8Array.of(0, i * 4, 0, 0), 2 + (i & 3) * 16)
    for (let query = 0; query < 60; query++) {
      chain.startScope()
      needAlike(chain, table, i * 4, alike)
    }
    return chain.scope
  })
  expect(Math.max(...last)).toBe(0)
})

test('bits that are needed already are not examined again', () => {
  const chain = new Chain(new Random(1))
  const table = tableOf(partition([1n << 24n, 2n << 24n, 3n << 24n], 32), false)
  chain.client.set(Uint8Array.of(1, 2, 3, 4), 0, 4)
  chain.count = 2
  chain.wantsScope = true
  chain.need(24)
  let asked = 0
  needAlike(
    chain,
    table,
    1,
    likeness(() => ++asked > 0),
  )
  expect([chain.scope, asked]).toEqual([24, 0])
})
