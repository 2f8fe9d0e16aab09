// The scope of client subnets on the networks of the world, against a look at every one of them.
import { expect, test } from 'vitest'
import { firstPolicyCode, placeCode, placeName } from '#bundle/format/routing-cells.ts'
import { serviceCell } from '#bundle/format/bundle.ts'
import { NodeCell } from '#bundle/format/cells.ts'
import { loadBundle } from '#bundle/load/load.ts'
import { Random } from '#lib/random.ts'
import { Chain } from '#routing/chain/chain.ts'
import { choose, loadCandidates } from '#routing/choose/choose.ts'
import { createEnvironment } from '#routing/choose/environment.ts'
import { CountryTable } from '#routing/geo/geo-tables.ts'
import type { CountryBuffers } from '#routing/geo/geo-tables.ts'
import { regionTable, regionsWithSubdivisions } from '#routing/geo/region-table.ts'
import { RangeTableBuilder } from '#routing/tables/range-table-builder.ts'
import { SubdivisionRows } from '#inputs/geo/columns.ts'
import type { RangeTable } from '#routing/tables/range-table.ts'
import { createPolicies } from '#routing/choose/policy.ts'
import type { Policy } from '#routing/choose/policy.ts'
import { PoolCell, RoutingState } from '#routing/state/state.ts'
import { worldCountries, worldPlaces } from '#bench/data/geo-tables.ts'
import { routingGeneration } from '#bench/data/routing-kinds.ts'
import type { RoutingKind } from '#bench/data/routing-kinds.ts'
import { laneCount, laneRows } from '#test/support/lane.ts'

const continents = ['continent:EU', 'continent:NA', 'continent:AS', 'continent:SA']
const oneCountry = ['DE', 'unknown', 'unknown', 'unknown']
const states = ['US-CA', 'US', 'DE-1', 'continent:EU']
const kinds: readonly RoutingKind[] = [
  { name: 'filter geo-ip, four countries', filterChain: ['geo-ip'] },
  { name: 'filter geo-ip, four continents', filterChain: ['geo-ip'], regions: continents },
  { name: 'filter geo-ip, one country', filterChain: ['geo-ip'], regions: oneCountry },
  { name: 'filter geo-ip, subdivisions', filterChain: ['geo-ip'], regions: states },
  { name: 'algorithm latency', algorithm: 'latency' },
  { name: 'algorithm geo-ip', algorithm: 'geo-ip' },
].map((kind) => ({ ...kind, tables: 'world' }))

let nowMs = 0

/** Countries by turns in six subdivisions each, range by range. */
function worldSubdivisions(country: CountryBuffers): CountryBuffers {
  const { ranges, countryCode, continentCode } = new CountryTable(country)
  const names = ['CA', 'NY', '1', '2', '3', '4']
  const placeOf = (code: number, name: string) => placeCode(`${placeName(code)}-${name}`)
  const rows = new SubdivisionRows()
  const valueOf = (row: number, index: number): number => {
    const code = countryCode[row]!
    if (code === 0) return row
    const inner = placeOf(code, names[index % names.length]!)
    return rows.row({ inner, outer: index % 4 === 0 ? placeOf(code, 'CA') : 0 }, row)
  }
  const builder = new RangeTableBuilder()
  for (let row = 0; row < ranges.count4; row++) {
    const end = row + 1 < ranges.count4 ? ranges.start4(row + 1) - 1 : 0xffff_ffff
    builder.add4(ranges.start4(row), end, valueOf(ranges.value4(row), row))
  }
  for (let row = 0; row < ranges.count6; row++) {
    const isLast = row + 1 === ranges.count6
    const from = Uint32Array.from(startOf(ranges, row, true))
    const to = isLast ? [-1, -1, -1, -1] : lastBefore(startOf(ranges, row + 1, true))
    builder.add6(from, Uint32Array.from(to), valueOf(ranges.value6(row), row))
  }
  return { ranges: builder.build(), ...rows.columns({ countryCode, continentCode }) }
}

function newWorld() {
  const country = worldCountries()
  const subdivision = worldSubdivisions(country)
  const geo = { country, subdivision, asn: null, location: worldPlaces(country) }
  const generation = routingGeneration(kinds, geo, false)
  const loaded = loadBundle(generation.bundle)
  if (!loaded.ok) throw new Error(loaded.error.message)
  const bundle = loaded.value
  const regions = regionTable(subdivision, regionsWithSubdivisions(bundle))
  const environment = createEnvironment(bundle, { ...generation.tables, regions }, null)
  const chain = new Chain(new Random(1), () => nowMs)
  chain.adopt(bundle, new RoutingState(bundle, generation.routing))
  const policies = createPolicies(environment)
  return { bundle, chain, policies, geo: environment.geo, regions: environment.regions }
}
const { bundle, chain, policies, geo, regions } = newWorld()

interface Subject {
  readonly service: number
  readonly policy: Policy
  readonly pool: number
  readonly table: RangeTable
}

function subjectOf(service: number): Subject {
  const code = serviceCell(bundle, service, NodeCell.Algorithm)
  const isByPlace = kinds[service]!.algorithm === 'geo-ip'
  return {
    service,
    policy: policies[code - firstPolicyCode]!,
    pool: serviceCell(bundle, service, NodeCell.Pool) - 1,
    table: isByPlace ? geo.location!.ranges : regions!.ranges,
  }
}

/** What is done for a client, as text; nobody asks for the scope. */
function doneFor({ service, policy, pool }: Subject): string {
  chain.serviceIndex = service
  chain.wantsScope = false
  chain.answerCount = policy.answerCount
  // Not `choose`: which of the others would be next counts, too, and it may know the first one.
  loadCandidates(chain, policy, pool)
  for (const step of policy.steps) step(chain)
  // Draws and turns differ from query to query: what they are made by does not.
  if (policy.ways[0]?.name === 'latency') return String(chain.picked)
  const isInTurn = kinds[service]!.algorithm !== undefined && chain.picked < 0
  return isInTurn ? 'in turn' : chain.members.subarray(0, chain.count).join(' ')
}

/** The answer is one member for geo-ip by distance: the order of the others does not count. */
const answerOf = (subject: Subject): string =>
  subject.table === geo.location!.ranges ? doneFor(subject).split(' ')[0]! : doneFor(subject)

/** The words of an address, or of the first one of a row. */
type Words = Int32Array

function startOf(table: RangeTable, row: number, isIpv6: boolean): Words {
  return isIpv6
    ? Int32Array.from([0, 1, 2, 3], (word) => table.start6(row, word))
    : Int32Array.of(table.start4(row))
}

function lastBefore(start: Words): Words {
  const last = start.slice()
  for (let word = last.length - 1; word >= 0 && last[word]!-- === 0; word--);
  return last
}

/** Leading bits that tell two addresses apart. */
function bitsApart(a: Words, b: Words): number {
  const word = a.findIndex((one, i) => one !== b[i])
  return word * 32 + Math.clz32(a[word]! ^ b[word]!) + 1
}

/** For each row the first and the last of those around it that are answered as it is. */
function runsOf(subject: Subject, isIpv6: boolean) {
  const rows = isIpv6 ? subject.table.count6 : subject.table.count4
  const answers = Array.from({ length: rows }, (_, row) => {
    chain.client.setWords(startOf(subject.table, row, isIpv6), isIpv6)
    return answerOf(subject)
  })
  const first = new Int32Array(rows)
  const last = new Int32Array(rows)
  for (let row = 1; row < rows; row++) {
    first[row] = answers[row] === answers[row - 1] ? first[row - 1]! : row
  }
  for (let row = rows - 1; row >= 0; row--) {
    last[row] = answers[row] === answers[row + 1] ? last[row + 1]! : row
  }
  return { first, last }
}

interface Run {
  /** What is known of the candidates is forgotten before each query, and time goes on. */
  readonly isFresh: boolean
  readonly clients: number
}

/** @returns how many scopes are shorter and longer than the shortest that is right */
function faultsOf(subject: Subject, isIpv6: boolean, { isFresh, clients }: Run) {
  const { service, table, policy, pool } = subject
  const rows = isIpv6 ? table.count6 : table.count4
  const { first, last } = runsOf(subject, isIpv6)
  const random = new Random(7)
  let [wrong, tooLong] = [0, 0]
  for (let i = 0; i < clients; i++) {
    if (isFresh) {
      chain.alike.clear()
      // The same copy of the lists, as if it had been made anew.
      chain.state.pools[pool * PoolCell.Words + PoolCell.Version]! += 2
      nowMs += 1_000
    }
    const client = startOf(table, random.below(rows), isIpv6)
    if (isIpv6) client[3] = random.next()
    else client[0] = client[0]! | (random.next() & 0xff)
    chain.client.setWords(client, isIpv6)
    const [w0, w1, w2, w3] = client
    const row = isIpv6 ? table.find6(w0!, w1!, w2!, w3!) : table.find4(w0!)
    chain.serviceIndex = service
    chain.wantsScope = true
    choose(chain, policy, pool)
    const before = first[row]!
    const behind = last[row]! + 1
    const shortest = Math.max(
      before > 0 ? bitsApart(client, lastBefore(startOf(table, before, isIpv6))) : 0,
      behind < rows ? bitsApart(client, startOf(table, behind, isIpv6)) : 0,
    )
    if (chain.scope < shortest) wrong++
    if (chain.scope > shortest) tooLong++
  }
  return { wrong, tooLong }
}

const rows = kinds.flatMap(({ name }, service) => [
  [name, 'IPv4', service, false] as const,
  [name, 'IPv6', service, true] as const,
])

// One family of each kind, by turns; both in the long lane.
test.each(laneRows(rows, (_, i) => i % 4 === 0 || i % 4 === 3))(
  '%s, %s: as short as it can be',
  { timeout: 240_000 },
  (_name, _family, service, isIpv6) => {
    const subject = subjectOf(service)
    const none = { wrong: 0, tooLong: 0 }
    // From the first client on: nothing is known of the candidates then.
    const kept = { isFresh: false, clients: laneCount(100_000, 5_000) }
    expect(faultsOf(subject, isIpv6, kept)).toEqual(none)
    expect(faultsOf(subject, isIpv6, { isFresh: true, clients: laneCount(2_000) })).toEqual(none)
  },
)
