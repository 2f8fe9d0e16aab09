// Where the client of a simulation is, for steps that go by country.
import type { Chain } from '#routing/chain/chain.ts'
import { unpackCode } from '#routing/geo/countries.ts'
import { GeoTables } from '#routing/geo/geo-tables.ts'
import type { GeoBuffers } from '#routing/geo/geo-tables.ts'
import { rowOfClient, valueOfRow } from '#routing/chain/lookup-client.ts'

export interface SimulatedPlace {
  /** Two letters; null: the database does not know, or there is none. */
  readonly country: string | null
  readonly continent: string | null
  /** What the answer can be told by. */
  readonly hasDatabase: boolean
}

/** Steps and algorithms that compare a client's place with the regions of members. */
const byRegion: ReadonlySet<string> = new Set(['geo-ip'])

/** @returns null: no step of these goes by a country */
export function placeOfClient(
  chain: Chain,
  geo: GeoBuffers,
  steps: readonly string[],
): SimulatedPlace | null {
  if (!steps.some((name) => byRegion.has(name))) return null
  const { country } = new GeoTables(geo)
  if (country === null) return { country: null, continent: null, hasDatabase: false }
  const value = valueOfRow(country.ranges, chain, rowOfClient(country.ranges, chain))
  const known = (code: number): string | null => (code === 0 ? null : unpackCode(code))
  return {
    country: known(country.countryCode[value]!),
    continent: known(country.continentCode[value]!),
    hasDatabase: true,
  }
}

export function placeText({ country, continent, hasDatabase }: SimulatedPlace): string {
  if (!hasDatabase) return 'unknown: there is no database, name one with --geoip'
  if (country === null && continent === null) return 'unknown to the database'
  return `country ${country ?? 'unknown'}, continent ${continent ?? 'unknown'}`
}
