// Finds the client's country in a simulation, for geo steps.
import { placeName } from '#bundle/format/routing-cells.ts'
import type { Chain } from '#routing/chain/chain.ts'
import type { Way } from '#routing/choose/way.ts'
import { unpackCode } from '#routing/geo/countries.ts'
import { GeoTables } from '#routing/geo/geo-tables.ts'
import type { CountryTable, GeoBuffers } from '#routing/geo/geo-tables.ts'
import { rowOfClient, valueOfRow } from '#routing/chain/lookup-client.ts'

export interface SimulatedPlace {
  /** Two letters; null: the database does not list the client, or there is no database. */
  readonly country: string | null
  readonly continent: string | null
  /** The smallest known subdivision, such as `IT-MI`. */
  readonly subdivision: string | null
  /** The subdivision around it, such as `IT-25`. */
  readonly outerSubdivision: string | null
  /** Whether a database was there to look in. */
  readonly hasDatabase: boolean
}

/** Whether a way compares the place of a client with that of members. */
const goesByPlace = ({ needs }: Way): boolean =>
  needs.includes('regions') || needs.includes('locations')

/** @returns null: none of these ways uses a place */
export function placeOfClient(
  chain: Chain,
  geo: GeoBuffers,
  ways: readonly Way[],
): SimulatedPlace | null {
  if (!ways.some(goesByPlace)) return null
  const { country, subdivision } = new GeoTables(geo)
  const nowhere = { country: null, continent: null, subdivision: null, outerSubdivision: null }
  if (country === null) return { ...nowhere, hasDatabase: false }
  const value = valueIn(country, chain)
  const known = (code: number): string | null => (code === 0 ? null : unpackCode(code))
  const inside = subdivision === null ? 0 : valueIn(subdivision, chain)
  return {
    country: known(country.countryCode[value]!),
    continent: known(country.continentCode[value]!),
    subdivision: placeName(subdivision?.subdivisionCode[inside] ?? 0) || null,
    outerSubdivision: placeName(subdivision?.outerSubdivisionCode[inside] ?? 0) || null,
    hasDatabase: true,
  }
}

function valueIn({ ranges }: CountryTable, chain: Chain): number {
  return valueOfRow(ranges, chain, rowOfClient(ranges, chain))
}

/** @param databaseFrom the option that names a database, for when there is none */
export function placeText(place: SimulatedPlace, databaseFrom: string): string {
  const { country, continent, subdivision, outerSubdivision, hasDatabase } = place
  if (!hasDatabase) return `unknown: there is no database, name one with ${databaseFrom}`
  if (country === null && continent === null) return 'unknown to the database'
  const outer = outerSubdivision === null ? '' : ` in ${outerSubdivision}`
  const within = subdivision === null ? '' : `subdivision ${subdivision}${outer}, `
  return `${within}country ${country ?? 'unknown'}, continent ${continent ?? 'unknown'}`
}
