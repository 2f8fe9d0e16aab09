// Records written at run time: for all zones and records, each question is answered as if one
// bundle had them all.
import fc from 'fast-check'
import { expect, test } from 'vitest'
import { wireOf } from '#bundle/encode/record-pool.ts'
import type { Bundle } from '#bundle/format/bundle.ts'
import type { BundleModel, RrsetModel } from '#bundle/format/model.ts'
import { createRoutingState } from '#routing/state/candidates.ts'
import { encodeWritten } from '#zones/dynamic/written-bundle.ts'
import { asking } from '#test/support/answer-bundle.ts'
import { bareModel, bundleOf, pool, service, zone } from '#test/support/bundle-models.ts'
import { said } from '#test/support/dns/said.ts'
import { laneCount } from '#test/support/lane.ts'
import { txtRdata, writtenNames } from '#test/support/txt-records.ts'
import type { Written } from '#test/support/txt-records.ts'

const labels = ['a', 'b', '*', '_x'] as const
/** The zones may be nested; the first encloses all names. */
const apexes = ['test.', 'a.test.', 'b.a.test.'] as const
const below = (prefix: readonly string[]): string => [...prefix, 'test.'].join('.')
const names = fc.array(fc.constantFrom(...labels), { minLength: 0, maxLength: 4 }).map(below)

/** Every name of up to three labels, and some deeper ones. */
const asked: string[] = [[]].flatMap(() => {
  const one = ['a', 'b', 'star', '_x', '*'].map((label) => [label])
  const more = (shorter: string[][]) => one.flatMap(([label]) => shorter.map((n) => [label!, ...n]))
  const two = more(one)
  const three = more(two)
  const four = three.filter((_, i) => i % 7 === 0).map((name) => ['a', ...name])
  return [[], ...one, ...two, ...three, ...four].map(below)
})

const rdataOf = {
  A: [1, Buffer.of(192, 0, 2, 1)],
  NS: [2, wireOf('ns.example.net.')],
  CNAME: [5, wireOf('b.a.test.')],
  TXT: [16, txtRdata('one')],
  DNAME: [39, wireOf('_x.b.test.')],
} as const
type Kind = keyof typeof rdataOf | 'service'
const kinds = fc.constantFrom<Kind>('A', 'A', 'NS', 'CNAME', 'TXT', 'TXT', 'DNAME', 'service')

const declared = fc.uniqueArray(fc.tuple(names, kinds), {
  maxLength: 8,
  // An alias is alone, and a service stands for addresses.
  selector: ([name, kind]) => `${name} ${kind === 'service' ? 'A' : kind}`,
})
/** Type and data. One of two other types is declared nowhere. */
const values: readonly (readonly [number, Buffer])[] = [
  ...['one', 'two', 'three'].map((text) => [16, txtRdata(text)] as const),
  ...[7, 8].map((last) => [1, Buffer.of(192, 0, 2, last)] as const),
  [5, Buffer.from(wireOf('a.test.'))],
  [12, Buffer.from(wireOf('x.b.test.'))],
  [33, Buffer.from([0, 1, 0, 1, 0, 80, ...wireOf('_x.test.')])],
]
const written = fc.uniqueArray(
  fc.tuple(names, fc.nat(values.length - 1), fc.constantFrom(30, 60, 90)),
  { maxLength: 8, selector: ([name, value]) => `${name} ${value}` },
)
const writtenOf = (all: readonly (readonly [string, number, number])[]): readonly Written[] =>
  all.map(([name, value, ttlSeconds]) => ({
    ...{ name, type: values[value]![0], rdata: values[value]![1], ttlSeconds },
  }))

interface Declared {
  readonly zones: readonly string[]
  readonly records: readonly (readonly [string, Kind])[]
}

function modelOf({ zones, records }: Declared, others: readonly Written[]): BundleModel {
  const zoneOf = (name: string): number => {
    const closest = zones.filter((apex) => `.${name}`.endsWith(`.${apex}`))
    return zones.indexOf(closest.reduce((a, b) => (b.length > a.length ? b : a)))
  }
  const isApex = (name: string): boolean => zones.includes(name)
  const ofAliases = records.filter(([name, kind]) => kind === 'CNAME' && !isApex(name))
  const aliases = new Set(ofAliases.map(([name]) => name))
  const sane = records.filter(([name, kind]) => {
    if (aliases.has(name)) return kind === 'CNAME'
    return !isApex(name) || (kind !== 'CNAME' && kind !== 'NS')
  })
  const rrsets = new Map<string, RrsetModel>()
  const add = (name: string, type: number, ttlSeconds: number, rdata: Uint8Array): void => {
    const key = `${name} ${type}`
    const known = rrsets.get(key) ?? { name, zone: zoneOf(name), type, ttlSeconds, rdata: [] }
    const all = known.rdata.some((one) => Buffer.compare(one, rdata) === 0)
      ? known.rdata
      : [...known.rdata, rdata].toSorted((a, b) => Buffer.compare(a, b))
    rrsets.set(key, { ...known, ttlSeconds: Math.min(known.ttlSeconds, ttlSeconds), rdata: all })
  }
  for (const [name, kind] of sane)
    if (kind !== 'service') add(name, rdataOf[kind][0], 50, rdataOf[kind][1])
  const typesAt = (name: string): readonly number[] => [
    ...(isApex(name) ? [6] : []),
    ...sane.filter(([at]) => at === name).flatMap(([, kind]) => typesOf(kind)),
  ]
  for (const { name, type, ttlSeconds, rdata } of others) {
    const isBeside = others.some((other) => other.name === name && other.type !== 5)
    const known = typesAt(name)
    const isAlone = type !== 5 || (!isBeside && known.length === 0)
    const isFree = type === 16 || !known.includes(type)
    if (!aliases.has(name) && isAlone && isFree) add(name, type, ttlSeconds, rdata)
  }
  const services = sane.filter(([, kind]) => kind === 'service')
  return {
    ...bareModel,
    zones: zones.map((name) => zone(name)),
    pools: [pool(1, ['192.0.2.9'])],
    services: services.map(([name], i) => service(i + 1, name, { zone: zoneOf(name) })),
    rrsets: [...rrsets.values()],
  }
}

const typesOf = (kind: Kind): readonly number[] =>
  kind === 'service' ? [1, 28] : [rdataOf[kind][0]]

const askerOf = (bundle: Bundle, records: readonly Written[]) => {
  const { handed } = encodeWritten(writtenNames(records), bundle)
  return asking(bundle, createRoutingState(bundle, 1), handed)
}

test('two trees answer as one tree with all of their records does', () => {
  let withTexts = 0
  fc.assert(
    fc.property(fc.integer({ min: 1, max: 3 }), declared, written, (count, records, all) => {
      const texts = writtenOf(all)
      const one: Declared = { zones: apexes.slice(0, count), records }
      const two = askerOf(bundleOf(modelOf(one, [])), texts)
      const union = askerOf(bundleOf(modelOf(one, texts)), [])
      for (const name of asked) {
        for (const type of ['TXT', 'A', 'DS', 'PTR', 'CNAME', 'ANY']) {
          const question = `${name} ${type}`
          const [ours, expected] = [two, union].map((ask) => ask(question, { id: 1 }))
          if (ours!.bytes.equals(expected!.bytes)) continue
          expect([question, said(ours!)]).toEqual([question, said(expected!)])
          expect(ours!.bytes).toEqual(expected!.bytes)
        }
      }
      if (texts.length > 0) withTexts++
    }),
    { numRuns: laneCount(600, 20) },
  )
  expect(withTexts).toBeGreaterThan(10)
})
