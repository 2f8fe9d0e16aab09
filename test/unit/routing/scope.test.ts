// How far a client's network is widened, against widening it bit by bit.
import { expect, test } from 'vitest'
import { Random } from '#lib/random.ts'
import { Chain } from '#routing/chain.ts'
import { RangeTable, buildRangeTable } from '#routing/geo/range-table.ts'
import { needAlike, effortMax } from '#routing/scope.ts'

/** Ranges without a gap, each of a value of its own: 1, 2, 3 … */
function partition(starts: readonly bigint[], bits: number) {
  const sorted = [...new Set([0n, ...starts])].sort((a, b) => (a < b ? -1 : 1))
  return sorted.map((start, i) => ({
    start,
    end: (sorted[i + 1] ?? 1n << BigInt(bits)) - 1n,
    value: i + 1,
  }))
}

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
  needAlike(chain, table, row, { isAlike: (_chain, value) => value >= from && value <= to })
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
  for (let i = 0; i < 300; i++) {
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

test('where very many networks are alike the scope is too long, never too short', () => {
  const ranges = partition(
    Array.from({ length: effortMax * 4 }, (_, i) => BigInt(i) << 16n),
    32,
  )
  const client = BigInt(effortMax * 2) << 16n
  const scope = scopeOf(ranges, client, false, 1, ranges.length)
  expect(scope).toBeGreaterThan(0)
  expect(scope).toBeLessThan(16)
})

test.each([
  ['a pair', 2, 38],
  ['64', 64, 16],
  ['4,096', 4_096, 1],
])('among %s candidates so many values are compared, no more', (_title, count, most) => {
  const chain = new Chain(new Random(1))
  const starts = Array.from({ length: effortMax * 4 }, (_, i) => BigInt(i) << 16n)
  chain.client.set(Uint8Array.of(0, 224, 0, 0), 0, 4)
  chain.count = count
  chain.wantsScope = true
  let asked = 0
  needAlike(chain, tableOf(partition(starts, 32), false), 224, { isAlike: () => ++asked > 0 })
  expect(asked).toBe(most)
  expect(chain.scope).toBeGreaterThan(0)
})

test('what is needed already is not looked at again', () => {
  const chain = new Chain(new Random(1))
  const table = tableOf(partition([1n << 24n, 2n << 24n, 3n << 24n], 32), false)
  chain.client.set(Uint8Array.of(1, 2, 3, 4), 0, 4)
  chain.count = 2
  chain.wantsScope = true
  chain.need(24)
  let asked = 0
  needAlike(chain, table, 1, { isAlike: () => ++asked > 0 })
  expect([chain.scope, asked]).toEqual([24, 0])
})
