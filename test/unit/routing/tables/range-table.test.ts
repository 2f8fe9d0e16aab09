// Range tables against a list that is searched from end to end.
import { describe, expect, test } from 'vitest'
import { Random } from '#lib/random.ts'
import { RangeTable, buildRangeTable } from '#routing/tables/range-table.ts'

interface Range {
  readonly start: bigint
  readonly end: bigint
  readonly value: number
}

const lookups = 100_000

/** Disjoint ranges with gaps and touching neighbours, over addresses of 32 or 128 bits. */
function randomRanges(random: Random, count: number, bits: number): Range[] {
  const points = new Set<bigint>()
  while (points.size < count * 2) points.add(randomAddress(random, bits))
  const sorted = [...points].sort((a, b) => (a < b ? -1 : 1))
  const ranges: Range[] = []
  for (let i = 0; i + 1 < sorted.length; i += 2) {
    const touches = random.below(3) === 0
    const end = touches && i + 2 < sorted.length ? sorted[i + 2]! - 1n : sorted[i + 1]!
    ranges.push({ start: sorted[i]!, end, value: random.below(3) })
  }
  return ranges
}

/** Half of the IPv6 addresses share their first words, so that the later ones decide. */
function randomAddress(random: Random, bits: number): bigint {
  if (bits === 32) return BigInt(random.next())
  const words = [0x2a00_1450, 0, 0, random.next()]
  const varied = random.below(4)
  for (let i = varied; i < 3; i++) words[i] = random.next()
  return words.reduce((address, word) => (address << 32n) | BigInt(word), 0n)
}

const wordsOf = (address: bigint): [number, number, number, number] => [
  Number(address >> 96n),
  Number((address >> 64n) & 0xffff_ffffn),
  Number((address >> 32n) & 0xffff_ffffn),
  Number(address & 0xffff_ffffn),
]

/** The same answers by halving an array of objects: slow, and written differently. */
function referenceValue(sorted: readonly Range[], address: bigint): number {
  let [from, to] = [0, sorted.length]
  while (from < to) {
    const middle = (from + to) >> 1
    if (sorted[middle]!.end < address) from = middle + 1
    else to = middle
  }
  const range = sorted[from]
  return range !== undefined && range.start <= address ? range.value : 0
}

describe('a range table', () => {
  test.each([
    ['few ranges', 5],
    ['many ranges', 20_000],
  ])('with %s IPv4 rows answers like a search through a list', (_title, count) => {
    const random = new Random(count)
    const ranges = randomRanges(random, count, 32)
    const table = new RangeTable(buildRangeTable(ranges.map(toNumbers), []))
    const probes = [...ranges.flatMap(borders), 0n, 0xffff_ffffn]
    while (probes.length < lookups) probes.push(randomAddress(random, 32))
    const wrong = probes.filter((address) => {
      const asked = Number(address & 0xffff_ffffn)
      return table.value4(table.find4(asked)) !== referenceValue(ranges, BigInt(asked))
    })
    expect(wrong).toEqual([])
  })

  test.each([
    ['few ranges', 5],
    ['many ranges', 20_000],
  ])('with %s IPv6 rows answers like a search through a list', (_title, count) => {
    const random = new Random(count + 1)
    const ranges = randomRanges(random, count, 128)
    const table = new RangeTable(buildRangeTable([], ranges))
    const last = (1n << 128n) - 1n
    const probes = [...ranges.flatMap(borders), 0n, last, 1n << 127n]
    while (probes.length < lookups) probes.push(randomAddress(random, 128))
    const wrong = probes.filter(
      (address) =>
        table.value6(table.find6(...wordsOf(address))) !== referenceValue(ranges, address),
    )
    expect(wrong).toEqual([])
  })

  test('finds the same row for signed numbers', () => {
    const random = new Random(6)
    const table = new RangeTable(
      buildRangeTable(randomRanges(random, 500, 32).map(toNumbers), randomRanges(random, 500, 128)),
    )
    for (let i = 0; i < 5_000; i++) {
      const [a, b, c, d] = wordsOf(randomAddress(random, 128))
      expect(table.find4(d | 0)).toBe(table.find4(d))
      expect(table.find6(a | 0, b | 0, c | 0, d | 0)).toBe(table.find6(a, b, c, d))
    }
  })

  test('reads ahead inside its rows, for any address', () => {
    const random = new Random(7)
    const ranges = randomRanges(random, 500, 32).map(toNumbers)
    const table = new RangeTable(buildRangeTable(ranges, []))
    const asked = [
      0,
      0x7fff_ffff,
      0x8000_0000,
      0xffff_ffff,
      ...Array.from({ length: 60 }, () => random.next()),
    ]
    const rows = Int32Array.from(asked)
    expect(Number.isInteger(table.readAhead4(rows, rows.length))).toBe(true)
    for (const [i, row] of rows.entries()) {
      expect(row).toBeLessThan(table.count4)
      expect(Math.abs(row - table.find4(asked[i]!))).toBeLessThan(64)
    }
  })

  test('has one row for neighbours of equal value, given in any order', () => {
    const ranges = [
      { start: 20, end: 29, value: 7 },
      { start: 10, end: 19, value: 7 },
      { start: 30, end: 39, value: 0 },
    ]
    const table = new RangeTable(
      buildRangeTable(
        ranges,
        ranges.map((range) => ({
          start: BigInt(range.start),
          end: BigInt(range.end),
          value: range.value,
        })),
      ),
    )
    expect([table.count4, table.count6]).toEqual([3, 3])
    expect([0, 1, 2].map((row) => table.value4(row))).toEqual([0, 7, 0])
    expect([0, 1, 2].map((row) => table.start4(row))).toEqual([0, 10, 30])
  })

  test('without ranges has one row of value 0, which is everyone', () => {
    const table = new RangeTable(buildRangeTable([], []))
    expect([table.count4, table.count6]).toEqual([1, 1])
    expect(table.value4(table.find4(0xffff_ffff))).toBe(0)
  })

  test('may lie inside another buffer', () => {
    const alone = new Uint8Array(buildRangeTable([{ start: 5, end: 6, value: 9 }], []))
    const around = new SharedArrayBuffer(alone.length + 128)
    new Uint8Array(around).set(alone, 64)
    const table = new RangeTable(around, 64)
    expect(table.value4(table.find4(5))).toBe(9)
    expect(() => new RangeTable(around, 0)).toThrow('magic')
  })

  test('refuses ranges that overlap, for that is a mistake of ours', () => {
    const overlapping = [
      { start: 0, end: 10, value: 1 },
      { start: 10, end: 11, value: 2 },
    ]
    expect(() => buildRangeTable(overlapping, [])).toThrow('disjoint')
  })
})

function borders({ start, end }: Range): bigint[] {
  return [start === 0n ? start : start - 1n, start, end, end + 1n]
}

function toNumbers({ start, end, value }: Range): { start: number; end: number; value: number } {
  return { start: Number(start), end: Number(end), value }
}
