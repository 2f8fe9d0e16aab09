// Weighs clients by counted traffic of networks and countries, instead of by addresses.
import { CountryTable } from '#routing/geo/geo-tables.ts'
import type { CountryBuffers } from '#routing/geo/geo-tables.ts'
import { unpackCode } from '#routing/geo/countries.ts'
import { lowerBound } from '#lib/sequence/lower-bound.ts'
import type { Address, Cut } from './cuts.ts'
import { overlay } from './cuts.ts'
import { rangeSource } from './sources.ts'
import { ipv4, ipv6 } from './space.ts'
import type { FamilySpace } from './space.ts'

/** Counted queries, or other traffic. Each query counts in one place. */
export interface Traffic {
  /** The origin of the counts, for people. */
  readonly source: string
  /** For how long was counted; null: unknown, so there are no rates. */
  readonly seconds: number | null
  /** Number of sampled queries behind the counts; null: all queries were counted. */
  readonly sampled: number | null
  /** Counts by two-letter country; '': in no database. */
  readonly countries: ReadonlyMap<string, number>
  readonly networks: readonly CountedNetwork[]
  /** Counts by name, absolute and in lower case, or by `name type`. */
  readonly names: ReadonlyMap<string, number>
}

export interface CountedNetwork {
  /** The network as it was written. */
  readonly network: string
  /** 4 or 16 octets; the bits beyond the prefix are zero. */
  readonly octets: Uint8Array
  readonly prefixBits: number
  readonly count: number
}

interface CountedSpaces {
  readonly v4: FamilySpace<number>
  readonly v6: FamilySpace<bigint>
  /** Share of the traffic over IPv6; 0 where that is unknown. */
  readonly part6: number
  /** Sentences about what the counts do not show. */
  readonly warnings: readonly string[]
}

/** @param country the database of countries; null: there is none */
export function countedSpaces(traffic: Traffic, country: CountryBuffers | null): CountedSpaces {
  const table = country && new CountryTable(country)
  const cuts = traffic.countries.size === 0 || !country ? null : rangeSource(country.ranges)
  const { v4: cut4 = null, v6: cut6 = null } = cuts?.cuts() ?? {}
  const codeOf = (row: number): string => unpackCode(table?.countryCode[row] ?? 0)
  const [four, six] = [traffic.networks.filter(isIpv4), traffic.networks.filter(isIpv6)]
  const steps4 = merged(
    stepsOfNetworks(four.map(range4), 0, 1),
    stepsOfCountries(ipv4, cut4, traffic.countries, codeOf),
  )
  const steps6 = merged(
    stepsOfNetworks(six.map(range6), 0n, in48),
    stepsOfCountries(ipv6, cut6, traffic.countries, codeOf),
  )
  const [v4, v6] = [counted(ipv4, steps4, 1), counted(ipv6, steps6, in48)]
  const sum6 = six.reduce((sum, { count }) => sum + count, 0)
  const sum4 = four.reduce((sum, { count }) => sum + count, 0)
  const sumOfCountries = [...traffic.countries.values()].reduce((sum, count) => sum + count, 0)
  return {
    v4: v4 ?? ipv4,
    v6: v6 ?? ipv6,
    part6: sum6 === 0 ? 0 : sum6 / (sum4 + sum6 + sumOfCountries),
    warnings: warningsOf(traffic, table, [v4, v6]),
  }
}

const isIpv4 = ({ octets }: CountedNetwork): boolean => octets.length === 4
const isIpv6 = (one: CountedNetwork): boolean => !isIpv4(one)

function warningsOf(
  traffic: Traffic,
  table: CountryTable | null,
  spaces: readonly [FamilySpace<number> | null, FamilySpace<bigint> | null],
): readonly string[] {
  const { source, countries, networks } = traffic
  const known = new Set(
    table === null
      ? []
      : Array.from(knownRows(table), (row) => unpackCode(table.countryCode[row] ?? 0)),
  )
  const unknown = [...countries.keys()].filter((code) => countries.get(code)! > 0)
  const strange = table === null ? unknown : unknown.filter((code) => !known.has(code))
  const isBy = countries.size > 0 && table !== null
  return [
    ...(strange.length === 0
      ? []
      : [
          table === null
            ? `without --geoip the counts of countries in ${source} place nobody`
            : `${source} counts clients of ${strange.slice(0, 5).join(', ')}, which the database ` +
              'does not have: they are left out',
        ]),
    ...(isBy
      ? [`${source} counts by country: inside a country clients are weighted by addresses`]
      : []),
    ...(['IPv4', 'IPv6'] as const).flatMap((family, i) =>
      spaces[i] === null && (i === 0 || networks.length > 0)
        ? [`${source} counts no client of ${family}: they are weighted by addresses`]
        : [],
    ),
  ]
}

/** By range: how much of the count comes from each unit of addresses. */
interface Steps<A extends Address> {
  readonly starts: readonly A[]
  readonly densities: readonly number[]
}

const in48 = 2 ** 80

interface CountedRange<A extends Address> {
  readonly start: A
  readonly end: A
  readonly count: number
}

function range4({ octets, prefixBits, count }: CountedNetwork): CountedRange<number> {
  const start = new DataView(octets.buffer, octets.byteOffset).getUint32(0)
  return { start, end: start + 2 ** (32 - prefixBits), count }
}

function range6({ octets, prefixBits, count }: CountedNetwork): CountedRange<bigint> {
  const view = new DataView(octets.buffer, octets.byteOffset)
  const start = (view.getBigUint64(0) << 64n) | view.getBigUint64(8)
  return { start, end: start + (1n << BigInt(128 - prefixBits)), count }
}

/** Networks contain each other or are disjoint: those open at an address form a stack. */
function stepsOfNetworks<A extends Address>(
  ranges: readonly CountedRange<A>[],
  zero: A,
  unit: number,
): Steps<A> {
  const starts: A[] = []
  const densities: number[] = []
  const open: { readonly end: A; readonly density: number }[] = []
  const put = (start: A): void => {
    if (starts[starts.length - 1] === start) {
      starts.pop()
      densities.pop()
    }
    starts.push(start)
    // Summed anew each time, since adding and subtracting the same fraction leaves a rest.
    densities.push(open.reduce((sum, { density }) => sum + density, 0))
  }
  const closeUntil = (at: A | undefined): void => {
    for (let last = open.at(-1); last !== undefined; last = open.at(-1)) {
      if (at !== undefined && last.end > at) return
      open.pop()
      put(last.end)
    }
  }
  put(zero)
  const ordered = ranges.toSorted((one, other) => {
    if (one.start !== other.start) return one.start < other.start ? -1 : 1
    return one.end > other.end ? -1 : one.end < other.end ? 1 : 0
  })
  for (const { start, end, count } of ordered) {
    closeUntil(start)
    open.push({ end, density: count / sizeOf(start, end, unit) })
    put(start)
  }
  closeUntil(undefined)
  return { starts, densities }
}

function sizeOf(start: Address, end: Address, unit: number): number {
  return typeof start === 'number' ? Number(end) - start : Number((end as bigint) - start) / unit
}

/** Spreads the count of a country over the addresses of its clients. */
function stepsOfCountries<A extends Address>(
  space: FamilySpace<A>,
  cut: Cut<A> | null,
  counts: ReadonlyMap<string, number>,
  codeOf: (row: number) => string,
): Steps<A> | null {
  if (cut === null) return null
  const { starts, valueOf, ofOne, ofTwo } = overlay(space.clients, cut)
  const codes = ofTwo.map((value) => codeOf(cut.rowOf[value]!))
  const isPlaced = ofOne.map((value, i) => value === 1 && (counts.get(codes[i]!) ?? 0) > 0)
  const sizes = new Map<string, number>()
  for (const [i, value] of valueOf.entries()) {
    if (!isPlaced[value]!) continue
    const size = space.weightOf(starts[i]!, starts[i + 1] ?? space.end)
    sizes.set(codes[value]!, (sizes.get(codes[value]!) ?? 0) + size)
  }
  const densityOf = codes.map((code, i) =>
    isPlaced[i]! ? counts.get(code)! / sizes.get(code)! : 0,
  )
  return {
    starts: Array.from(starts),
    densities: Array.from(valueOf, (value) => densityOf[value]!),
  }
}

function merged<A extends Address>(one: Steps<A>, two: Steps<A> | null): Steps<A> {
  if (two === null) return one
  const starts: A[] = []
  const densities: number[] = []
  let [i, j] = [0, 0]
  for (let start: A | undefined = one.starts[0]!; start !== undefined;) {
    starts.push(start)
    densities.push(one.densities[i]! + two.densities[j]!)
    const [next, other]: readonly (A | undefined)[] = [one.starts[i + 1], two.starts[j + 1]]
    start = next === undefined || (other !== undefined && other < next) ? other : next
    if (next !== undefined && next === start) i++
    if (other !== undefined && other === start) j++
  }
  return { starts, densities }
}

/** @returns null: no client of the family was counted */
function counted<A extends Address>(
  space: FamilySpace<A>,
  { starts, densities }: Steps<A>,
  unit: number,
): FamilySpace<A> | null {
  const before = new Float64Array(starts.length + 1)
  for (let i = 0; i < starts.length; i++) {
    const size = sizeOf(starts[i]!, starts[i + 1] ?? space.end, unit)
    before[i + 1] = before[i]! + size * densities[i]!
  }
  if (before[starts.length] === 0) return null
  const until = (address: A): number => {
    const at = lastAtOrBelow(starts, address)
    return before[at]! + sizeOf(starts[at]!, address, unit) * densities[at]!
  }
  const weightOf = (start: A, end: A): number => {
    const at = lastAtOrBelow(starts, start)
    const next = starts[at + 1] ?? space.end
    // Within one step the product is exact.
    return end <= next ? sizeOf(start, end, unit) * densities[at]! : until(end) - until(start)
  }
  return {
    ...space,
    isCounted: true,
    weightOf,
    within(start, end, part) {
      const wanted = until(start) + weightOf(start, end) * part
      let low = lastAtOrBelow(starts, start)
      while (low + 1 < starts.length && starts[low + 1]! < end && before[low + 1]! <= wanted) low++
      const from = starts[low]! > start ? starts[low]! : start
      const next = starts[low + 1] ?? space.end
      const to = next < end ? next : end
      const weight = weightOf(from, to)
      const inside = weight > 0 ? (wanted - until(from)) / weight : 0
      return space.within(from, to, Math.min(1, Math.max(0, inside)))
    },
  }
}

/** The first step starts at 0, so there is one. */
function lastAtOrBelow<A extends Address>(starts: readonly A[], address: A): number {
  return lowerBound(starts.length, (i) => starts[i]! <= address) - 1
}

/** Rows that have a range: a database may name codes without any network. */
function knownRows({ ranges }: CountryTable): ReadonlySet<number> {
  const rows = new Set<number>()
  for (let i = 0; i < ranges.count4; i++) rows.add(ranges.value4(i))
  for (let i = 0; i < ranges.count6; i++) rows.add(ranges.value6(i))
  return rows
}
