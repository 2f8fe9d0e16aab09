// Counts queries of the last hour by country, from a sample. No address is kept.
import { EdnsOption } from '#dns/edns-codes.ts'
import type { Clock } from '#lib/clock.ts'
import type { After } from '#lib/timer.ts'
import { Client } from '#routing/chain/client.ts'
import { unpackCode } from '#routing/geo/countries.ts'
import { CountryTable } from '#routing/geo/geo-tables.ts'
import type { CountryBuffers, GeoBuffers } from '#routing/geo/geo-tables.ts'
import { optionPlaces } from '#answer/query-log/message-records.ts'
import type { QuerySamples, SampledQuery } from './query-samples.ts'

export const clientRegionLimits = {
  tickMs: 2_000,
  queriesPerTick: 256,
  /** The hour is kept in parts, each counted as one. */
  partMs: 300_000,
  parts: 12,
} as const

interface ClientRegionsParts {
  readonly samples: Pick<QuerySamples, 'turn' | 'drain'>
  readonly geo: () => GeoBuffers
  /** Queries answered by this node since its start. */
  readonly queries: () => number
  readonly clock: Clock
  readonly after: After
}

interface RegionCount {
  /** Two letters; '': the database does not know it. */
  readonly country: string
  /** Queries of the last hour, estimated from the sample. */
  readonly queries: number
}

interface RegionCounts {
  /** Whether a database of countries is loaded. */
  readonly hasDatabase: boolean
  /** Length of the count in seconds: an hour, or the uptime. */
  readonly seconds: number
  /** Queries in the sample. */
  readonly sampled: number
  /** Most queries first. */
  readonly countries: readonly RegionCount[]
}

interface Part {
  readonly beganMs: number
  sampled: number
  /** By packed country code; 0: unknown. */
  readonly queries: Map<number, number>
}

export class ClientRegions {
  readonly #parts: ClientRegionsParts
  readonly #client = new Client()
  #counted: Part[] = []
  #table: { readonly of: CountryBuffers; readonly table: CountryTable } | undefined
  #isOn = false
  /** The node's query count at the last tick with samples. */
  #queries = 0
  #callOff: (() => void) | undefined

  constructor(parts: ClientRegionsParts) {
    this.#parts = parts
  }

  start(): void {
    this.#callOff = this.#parts.after(clientRegionLimits.tickMs, () => {
      this.tick()
      this.start()
    })
  }

  stop(): void {
    this.#callOff?.()
    this.#turn(false)
  }

  tick(): void {
    const table = this.#countries()
    this.#turn(table !== undefined)
    if (table === undefined) return
    const sampled = this.#parts.samples.drain(clientRegionLimits.queriesPerTick)
    if (sampled.length === 0) return
    const queries = this.#parts.queries()
    // Each sample is weighted by the queries since the last one: a busy second counts for more.
    const weight = Math.max(1, (queries - this.#queries) / sampled.length)
    this.#queries = queries
    const part = this.#part()
    part.sampled += sampled.length
    for (const query of sampled) {
      const code = this.#codeOf(table, query)
      part.queries.set(code, (part.queries.get(code) ?? 0) + weight)
    }
  }

  counts(): RegionCounts {
    this.#forget()
    const sums = new Map<number, number>()
    for (const { queries } of this.#counted) {
      for (const [code, count] of queries) sums.set(code, (sums.get(code) ?? 0) + count)
    }
    const nowMs = this.#parts.clock.monotonicMs()
    const [first] = this.#counted
    return {
      hasDatabase: this.#countries() !== undefined,
      seconds: first === undefined ? 0 : Math.round((nowMs - first.beganMs) / 1_000),
      sampled: this.#counted.reduce((sum, one) => sum + one.sampled, 0),
      countries: [...sums]
        .map(([code, count]) => ({ country: unpackCode(code), queries: Math.round(count) }))
        .sort((a, b) => b.queries - a.queries),
    }
  }

  /** Queries are copied only while a database can locate them. */
  #turn(isOn: boolean): void {
    if (isOn === this.#isOn) return
    this.#isOn = isOn
    this.#parts.samples.turn(isOn)
    this.#queries = this.#parts.queries()
  }

  #countries(): CountryTable | undefined {
    const { country } = this.#parts.geo()
    if (country === null) this.#table = undefined
    else if (this.#table?.of !== country) {
      this.#table = { of: country, table: new CountryTable(country) }
    }
    return this.#table?.table
  }

  #part(): Part {
    this.#forget()
    const nowMs = this.#parts.clock.monotonicMs()
    const last = this.#counted.at(-1)
    if (last !== undefined && nowMs - last.beganMs < clientRegionLimits.partMs) return last
    const part = { beganMs: nowMs, sampled: 0, queries: new Map<number, number>() }
    this.#counted.push(part)
    return part
  }

  #forget(): void {
    const { partMs, parts } = clientRegionLimits
    const oldestMs = this.#parts.clock.monotonicMs() - partMs * parts
    this.#counted = this.#counted.filter(({ beganMs }) => beganMs > oldestMs)
  }

  #codeOf({ ranges, countryCode }: CountryTable, { query, client }: SampledQuery): number {
    const address = subnetIn(query) ?? client
    this.#client.set(address, 0, address.length)
    const { words, isIpv6 } = this.#client
    const row = isIpv6
      ? ranges.value6(ranges.find6(words[0]!, words[1]!, words[2]!, words[3]!))
      : ranges.value4(ranges.find4(words[0]!))
    return countryCode[row] ?? 0
  }
}

/**
 * Octets before the address in the option: family, source prefix, scope prefix. RFC 7871 section 6.
 */
const subnetHeadBytes = 4

/** The client subnet of a query; undefined: none, or a prefix of 0. */
function subnetIn(query: Uint8Array): Uint8Array | undefined {
  const option = optionPlaces(query)?.find(({ code }) => code === EdnsOption.ClientSubnet)
  if (option === undefined || option.end - option.start <= subnetHeadBytes) return undefined
  const family = (query[option.start]! << 8) | query[option.start + 1]!
  const bytes = family === 1 ? 4 : family === 2 ? 16 : 0
  const given = query.subarray(option.start + subnetHeadBytes, option.end)
  if (given.length > bytes) return undefined
  const address = new Uint8Array(bytes)
  address.set(given)
  return address
}
