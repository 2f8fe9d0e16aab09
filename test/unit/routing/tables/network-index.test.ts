// Range tables of a bundle made from those of the bundle before.
import { expect, test } from 'vitest'
import type { Bundle } from '#bundle/format/bundle.ts'
import { plainRouting } from '#bundle/format/model.ts'
import type { ClientRanges, PoolModel } from '#bundle/format/model.ts'
import { Random } from '#lib/random.ts'
import { RangeHeader } from '#routing/tables/range-layout.ts'
import { hasSameNetworks, packNetworks } from '#routing/tables/network-index.ts'
import { IndexCell } from '#routing/tables/network-layout.ts'
import { GenerationMemory } from '#server/node/generation-memory.ts'
import { bareModel, bundleOf, pool, service, zone } from '../../../support/bundle-models.ts'

const endpointsOf = (number: number): string[] => [1, 2, 3].map((k) => `192.0.${number}.${k}`)

/** Networks of both families, each of one or two members; `turn` says which. */
function rulesOf(number: number, networks: number, turn = 0): ClientRanges {
  const all = endpointsOf(number)
  const names = (i: number): string[] =>
    i % 5 === turn ? [all[i % 3]!, all[(i + 1) % 3]!] : [all[i % 3]!]
  const v4 = Array.from({ length: networks }, (_, i) => ({
    start: i << 18,
    end: (i << 18) + 0xffff,
    endpoints: names(i),
  }))
  const v6 = Array.from({ length: networks }, (_, i) => ({
    start: (0x2001_0db8n << 96n) + (BigInt(i) << 64n),
    end: (0x2001_0db8n << 96n) + (BigInt(i + 1) << 64n) - 1n,
    endpoints: names(i),
  }))
  return { v4, v6 }
}

const ruled = (number: number, networks = 100, turn = 0): PoolModel =>
  pool(number, endpointsOf(number), { geoRules: rulesOf(number, networks, turn) })

function bundleWith(pools: readonly PoolModel[], mapRules: ClientRanges = { v4: [], v6: [] }) {
  return bundleOf({
    zones: [zone('test.')],
    pools,
    services: [service(1, 'a.test.')],
    routing: { ...plainRouting, mapRules },
  })
}

const wordsOf = (memory: SharedArrayBuffer): Uint32Array => new Uint32Array(memory)

/** Where the range tables begin. */
function tablesIn(words: Uint32Array): number[] {
  return [...words.slice(IndexCell.First, IndexCell.First + words[IndexCell.Tables]!)].filter(
    (at) => at !== 0,
  )
}

/** The directory and the tables, without what there was in the memory behind them. */
function contentOf(memory: SharedArrayBuffer): Uint32Array {
  const words = wordsOf(memory)
  const last = tablesIn(words).at(-1)!
  return words.slice(0, last + words[last + RangeHeader.End]!)
}

/** A word that nobody reads: copied with a table, and not there where one is made. */
const sign = RangeHeader.Owner + 2

/** @returns how many of the next bundle's tables were copied */
function copiedFrom(before: Bundle, next: Bundle): number {
  const packed = packNetworks(before)!
  for (const at of tablesIn(wordsOf(packed))) wordsOf(packed)[at + sign] = 1
  const carried = packNetworks(next, undefined, packed)!
  const words = wordsOf(carried)
  const copied = tablesIn(words).filter((at) => words[at + sign] === 1)
  for (const at of copied) words[at + sign] = 0
  expect(contentOf(carried)).toEqual(contentOf(packNetworks(next)!))
  return copied.length
}

const four = [1, 2, 3, 4].map((number) => ruled(number))

test.each([
  ['nothing', four, 4],
  ['a rule of the first pool', [ruled(1, 100, 1), ...four.slice(1)], 3],
  ['how many rules the first pool has', [ruled(1, 101), ...four.slice(1)], 3],
  ['a pool before the others', [ruled(0, 80), ...four], 4],
  ['a pool without rules before the others', [pool(0, ['192.0.0.1']), ...four], 4],
  ['a pool that is gone', four.slice(1), 3],
  ['a pool that has too few rules now', [ruled(1, 20), ...four.slice(1)], 3],
  ['all of them', [1, 2, 3, 4].map((number) => ruled(number, 90)), 0],
])(
  'a change of %s leaves the other tables as they are, wherever they stand',
  (_, pools, copies) => {
    expect(copiedFrom(bundleWith(four), bundleWith(pools))).toBe(copies)
  },
)

test('when map rules change, tables that share a list with them are made anew, too', () => {
  const [before, next] = [0, 1].map((turn) => bundleWith(four, rulesOf(1, 200, turn)))
  // The rows of the first members and of the first endpoints are the same numbers.
  expect(copiedFrom(before!, next!)).toBe(3)
})

test('tables of more different lists than groups are copied as well', () => {
  const members = Array.from({ length: 400 }, (_, i) => `198.51.${i >> 8}.${i & 255}`)
  const v4 = members.map((member, i) => ({
    start: i << 16,
    end: (i << 16) + 0xffff,
    endpoints: [member],
  }))
  const many = pool(9, members, { geoRules: { v4, v6: [] } })
  expect(copiedFrom(bundleWith([...four, many]), bundleWith([ruled(0, 80), ...four, many]))).toBe(5)
})

test.each([
  ['all threads have followed', true],
  ['one lags', false],
])('random bundles one after the other are as if made anew: %s', (_, isFree) => {
  const random = new Random(7)
  const memory = new GenerationMemory(1)
  let before: SharedArrayBuffer | null = null
  const memories = new Set<SharedArrayBuffer>()
  for (let i = 0; i < 40; i++) {
    const pools = [1, 2, 3, 4, 5, 6]
      .filter(() => random.below(4) > 0)
      .map((number) => ruled(number, 50 + random.below(3) * 30, random.below(2)))
    const bundle = bundleWith(pools)
    const packed = packNetworks(bundle, (bytes) => memory.networks(bytes, isFree), before)
    const anew = packNetworks(bundle)
    expect(packed === null ? null : contentOf(packed)).toEqual(anew && contentOf(anew))
    if (packed === null) continue
    serve(memory, packed)
    memories.add(packed)
    before = packed
  }
  if (isFree) expect(memories.size).toBe(2)
  else expect(memories.size).toBeGreaterThan(2)
})

/** The other memory of a generation does not matter here. */
function serve(memory: GenerationMemory, networks: SharedArrayBuffer): void {
  const { table, cursors } = memory.routing(true)
  const counts = { hits: memory.hits(8, true), queries: memory.queries(8, true) }
  const buffers = { table: table(8), cursors: cursors(8) }
  memory.publish(memory.bundle(new Uint8Array(8), true), buffers, counts, networks)
}

test.each([
  ['a TTL', { services: [service(1, 'a.test.', { ttlSeconds: 7 })] }, true],
  ['rules', { pools: [ruled(1, 101)] }, false],
])('networks are the same in bundles that differ in %s: %s', (_, parts, isSame) => {
  const model = { ...bareModel, zones: [zone('test.')], pools: [ruled(1)] }
  const one = bundleOf({ ...model, services: [service(1, 'a.test.')] })
  const other = bundleOf({ ...model, services: [service(1, 'a.test.')], ...parts })
  expect(hasSameNetworks(one, other)).toBe(isSame)
})

test('a bundle without rules has no index', () => {
  expect(packNetworks(bundleWith([pool(1, ['192.0.2.1'])]))).toBe(null)
})
