// Builds the input of a script: the candidates and the client as JSON text.
import { addressOfMember, textOf } from '#bundle/format/bundle.ts'
import type { Bundle } from '#bundle/format/bundle.ts'
import { placeName } from '#bundle/format/routing-cells.ts'
import { formatAddress } from '#dns/address.ts'
import { formatName } from '#dns/name.ts'
import type { Client } from '#routing/chain/client.ts'
import { unpackCode } from '../geo/countries.ts'
import type { CountryTable, GeoTables } from '../geo/geo-tables.ts'
import type { RangeTable } from '#routing/tables/range-table.ts'
import type { RoutingState } from '#routing/state/state.ts'
import type { ScriptQuestion } from './engine.ts'

/** A query as plain numbers, as it is sent between threads. */
interface ScriptQuery {
  /** The candidates, as members of the bundle. */
  readonly members: Uint32Array
  readonly client: Pick<Client, 'words' | 'isIpv6'>
  /** Wire form, not in shared memory. */
  readonly qname: Uint8Array
  /** True for AAAA. */
  readonly isV6: boolean
  readonly seed: number
}

export interface ScriptWorld {
  readonly bundle: Bundle
  readonly state: RoutingState
  readonly geo: GeoTables
  /** By pool; see kept-pools.ts. Members of other pools are serialised for each query. */
  readonly keptPools: ReadonlyMap<number, ScriptPool>
}

/** Members as the engine builds them. */
export interface ScriptPool {
  /** See ScriptQuestion. */
  readonly text: string
  /** The member at place 0; the others follow it. -1: the members are a query's candidates. */
  readonly firstMember: number
  /** By place: the first place with the same address, which a script names. */
  readonly namedAs: Uint32Array
}

export function scriptPoolOf(
  bundle: Bundle,
  members: ArrayLike<number>,
  firstMember = -1,
): ScriptPool {
  const placeOf = new Map<string, number>()
  const namedAs = new Uint32Array(members.length)
  const rows = Array.from(members, (member, place) => {
    const ip = addressOfMember(bundle, member)
    const first = placeOf.get(ip)
    namedAs[place] = first ?? place
    if (first === undefined) placeOf.set(ip, place)
    const region = textOf(bundle, bundle.memberRegion[member]!)
    const priority = bundle.memberPriority[member]!
    // All fields in a fixed order: a script may print them.
    return { ip, region, weight: 0, priority, health_score: 0, rtt_ms: 0 }
  })
  return { text: JSON.stringify(rows), firstMember, namedAs }
}

interface AskedQuestion extends ScriptQuestion {
  readonly pool: ScriptPool
}

/** @param nowMs Unix time */
export function scriptQuestionOf(
  world: ScriptWorld,
  query: ScriptQuery,
  nowMs: number,
): AskedQuestion {
  const { bundle, state } = world
  const { members, seed } = query
  const kept = world.keptPools.get(bundle.memberPool[members[0]!]!)
  const pool = kept ?? scriptPoolOf(bundle, members)
  const places = members.map((member, i) => (kept === undefined ? i : member - pool.firstMember))
  const values = new Float64Array(members.length * 3)
  for (const [i, member] of members.entries()) {
    values[i * 3] = state.memberWeight[member]!
    values[i * 3 + 1] = state.memberScore[member]!
    values[i * 3 + 2] = state.memberRttMs[member]!
  }
  const globals = JSON.stringify({
    client: clientOf(world.geo, query.client),
    qname: formatName(query.qname),
    qtype: query.isV6 ? 'AAAA' : 'A',
    now: Math.floor(nowMs / 1000),
  })
  return { members: pool.text, places, count: members.length, values, globals, seed, pool }
}

/** `asn` is 0, and `geo`, `subdivision`, `subdivisions` are empty, when unknown. */
function clientOf({ asn, country, subdivision }: GeoTables, client: ScriptQuery['client']) {
  const subdivisions = subdivisionsOf(subdivision, client)
  const subnet = client.isIpv6
    ? `${formatAddress(octetsOf(client, 48))}/48`
    : `${formatAddress(octetsOf(client, 24))}/24`
  return {
    ip: formatAddress(octetsOf(client, 128)),
    subnet,
    asn: asn === null ? 0 : asn.asnNumber[valueAt(asn.ranges, client)]!,
    geo: country === null ? '' : unpackCode(country.countryCode[valueAt(country.ranges, client)]!),
    subdivision: subdivisions[0] ?? '',
    subdivisions,
  }
}

/** The largest subdivision first. */
function subdivisionsOf(table: CountryTable | null, client: ScriptQuery['client']): string[] {
  if (table === null) return []
  const value = valueAt(table.ranges, client)
  const places = [table.outerSubdivisionCode[value]!, table.subdivisionCode[value]!]
  return places.filter((place) => place !== 0).map(placeName)
}

/** The first `bits`, then zeros. */
function octetsOf({ words, isIpv6 }: ScriptQuery['client'], bits: number): Uint8Array {
  const octets = new Uint8Array(isIpv6 ? 16 : 4)
  for (let i = 0; i < octets.length && i * 8 < bits; i++) {
    octets[i] = words[i >> 2]! >>> (24 - (i & 3) * 8)
  }
  return octets
}

function valueAt(ranges: RangeTable, { words, isIpv6 }: ScriptQuery['client']): number {
  if (!isIpv6) return ranges.value4(ranges.find4(words[0]!))
  return ranges.value6(ranges.find6(words[0]!, words[1]!, words[2]!, words[3]!))
}

/**
 * Finds the positions of the candidates that a run names, each once, in its order; other members
 * are ignored.
 *
 * @param into receives the positions; has room for all candidates
 * @returns their number
 */
export function positionsNamed(
  { places, count, pool }: AskedQuestion,
  named: Uint32Array,
  into: Uint32Array,
): number {
  // By place: the position + 1 of the candidate with its address.
  const left = new Uint32Array(pool.namedAs.length)
  for (let i = 0; i < count; i++) left[pool.namedAs[places[i]!]!] = i + 1
  let total = 0
  for (const place of named) {
    const position = left[place] ?? 0
    if (position === 0) continue
    left[place] = 0
    into[total++] = position - 1
  }
  return total
}
