// What a script sees of a query: candidates and client, in words.
import { memberOctets, textOf } from '#bundle/bundle.ts'
import type { Bundle } from '#bundle/bundle.ts'
import { formatAddress } from '#dns/address.ts'
import { formatName } from '#dns/name.ts'
import type { Client } from '../client.ts'
import { unpackCode } from '../geo/countries.ts'
import type { GeoTables } from '../geo/geo-tables.ts'
import type { RangeTable } from '../geo/range-table.ts'
import type { RoutingState } from '../state.ts'
import type { ScriptInput } from './contract.ts'

/** A query as numbers, as it crosses from thread to thread. */
export interface ScriptQuery {
  /** The first `count` are the candidates. */
  readonly members: Uint32Array
  readonly count: number
  readonly client: Pick<Client, 'words' | 'isIpv6'>
  /** Wire form, not in shared memory. */
  readonly qname: Uint8Array
  /** True for AAAA. */
  readonly isV6: boolean
}

export interface ScriptWorld {
  readonly bundle: Bundle
  readonly state: RoutingState
  readonly geo: GeoTables
}

/** @param nowMs Unix time */
export function scriptInputOf(world: ScriptWorld, query: ScriptQuery, nowMs: number): ScriptInput {
  const { bundle, state, geo } = world
  const candidates = Array.from(query.members.subarray(0, query.count), (member) => ({
    ip: formatAddress(memberOctets(bundle, member)),
    region: textOf(bundle, bundle.memberRegion[member]!),
    weight: state.memberWeight[member]!,
    priority: bundle.memberPriority[member]!,
    health_score: state.memberScore[member]!,
    rtt_ms: state.memberRttMs[member]!,
  }))
  return {
    candidates,
    client: {
      ip: formatAddress(octetsOf(query.client, 128)),
      subnet: query.client.isIpv6
        ? `${formatAddress(octetsOf(query.client, 48))}/48`
        : `${formatAddress(octetsOf(query.client, 24))}/24`,
      asn: asnOf(geo, query.client),
      geo: countryOf(geo, query.client),
    },
    qname: formatName(query.qname),
    qtype: query.isV6 ? 'AAAA' : 'A',
    now: Math.floor(nowMs / 1000),
  }
}

/** The first `bits`, then zeros. */
function octetsOf({ words, isIpv6 }: ScriptQuery['client'], bits: number): Uint8Array {
  const octets = new Uint8Array(isIpv6 ? 16 : 4)
  for (let i = 0; i < octets.length && i * 8 < bits; i++) {
    octets[i] = words[i >> 2]! >>> (24 - (i & 3) * 8)
  }
  return octets
}

function asnOf({ asn }: GeoTables, client: ScriptQuery['client']): number {
  return asn === null ? 0 : asn.asnNumber[valueAt(asn.ranges, client)]!
}

function countryOf({ country }: GeoTables, client: ScriptQuery['client']): string {
  return country === null ? '' : unpackCode(country.countryCode[valueAt(country.ranges, client)]!)
}

function valueAt(ranges: RangeTable, { words, isIpv6 }: ScriptQuery['client']): number {
  if (!isIpv6) return ranges.value4(ranges.find4(words[0]!))
  return ranges.value6(ranges.find6(words[0]!, words[1]!, words[2]!, words[3]!))
}

/**
 * Where the candidates that `addresses` names stand, each once, in that order; other addresses are
 * ignored.
 *
 * @param into receives the positions; has room for all candidates
 * @returns how many
 */
export function positionsNamed(
  { candidates }: ScriptInput,
  addresses: readonly string[],
  into: Uint32Array,
): number {
  const left = new Map(candidates.map(({ ip }, position) => [ip, position]))
  let count = 0
  for (const address of addresses) {
    const position = left.get(address)
    if (position === undefined) continue
    left.delete(address)
    into[count++] = position
  }
  return count
}
