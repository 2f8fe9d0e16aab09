// Extracts country, ASN and location from a geo record, under the field names of each vendor.
import { placeCode } from '#bundle/format/routing-cells.ts'
import { continentRow, countryRow, packCode, unpackCode } from '#routing/geo/countries.ts'
import type { PackedCode } from '#routing/geo/countries.ts'
import type { MmdbMap, MmdbValue, Wanted, WantedKeys } from './mmdb-data.ts'

/**
 * MaxMind and DB-IP nest (`country.iso_code`, `location.latitude`); IPinfo and the tables of
 * ip-location-db are flat (`country_code`, `lat`, `asn: AS64496`).
 */
export const wantedFields: WantedKeys = new Map<string, Wanted>([
  ['country', keys('iso_code')],
  ['country_code', 'all'],
  ['subdivisions', keys('iso_code')],
  ['region_code', 'all'],
  ['continent', keys('code')],
  ['continent_code', 'all'],
  ['location', keys('latitude', 'longitude')],
  ['latitude', 'all'],
  ['longitude', 'all'],
  ['lat', 'all'],
  ['lng', 'all'],
  ['lon', 'all'],
  ['autonomous_system_number', 'all'],
  ['autonomous_system_organization', 'all'],
  ['traits', keys('autonomous_system_number', 'autonomous_system_organization')],
  ['asn', 'all'],
  ['as_name', 'all'],
  ['name', 'all'],
  ['org', 'all'],
])

function keys(...names: string[]): WantedKeys {
  return new Map(names.map((name) => [name, 'all']))
}

/** @returns a row of `countries.ts`; that of the continent without a country, or 0 */
export function countryRowOf(record: MmdbMap): number {
  const row = countryRow(countryCodeOf(record))
  return row === 0 ? continentRow(continentCodeOf(record)) : row
}

function countryCodeOf(record: MmdbMap): PackedCode {
  const country = record.get('country')
  // Next to `country_code`, the country's name is no code: it is longer.
  return codeOf(field(country, 'iso_code') ?? record.get('country_code') ?? country)
}

/** See `placeCode`; 0: absent. */
export interface Subdivision {
  /** The smallest one, such as `GB-LND`. */
  readonly inner: number
  /** The one around it, such as `GB-ENG`. */
  readonly outer: number
}

/** A list begins with the largest; no maker is known to have more than two levels. */
export function subdivisionOf(record: MmdbMap): Subdivision {
  const list = record.get('subdivisions')
  const country = unpackCode(countryCodeOf(record))
  const places = (Array.isArray(list) && list.length > 0 ? list : [record.get('region_code')])
    .map((value: MmdbValue) => subdivisionCodeOf(country, field(value, 'iso_code') ?? value))
    .filter((place) => place !== 0)
  return { inner: places.at(-1) ?? 0, outer: places.at(-2) ?? 0 }
}

function subdivisionCodeOf(country: string, code: MmdbValue | undefined): number {
  if (typeof code !== 'string' || code.length > subdivisionCharsMax) return 0
  return placeCode(`${country}-${code.toUpperCase()}`)
}
const subdivisionCharsMax = 3

/** Two letters packed, or 0. */
export function continentCodeOf(record: MmdbMap): number {
  const continent = record.get('continent')
  return codeOf(field(continent, 'code') ?? record.get('continent_code') ?? continent)
}

export interface Place {
  /** Degrees, -90 to 90. */
  readonly latitude: number
  /** Degrees, -180 to 180. */
  readonly longitude: number
}

export function placeOf(record: MmdbMap): Place | undefined {
  const nested = record.get('location')
  const latitude = degrees(
    field(nested, 'latitude') ?? record.get('latitude') ?? record.get('lat'),
    90,
  )
  const longitude = degrees(
    field(nested, 'longitude') ?? record.get('longitude') ?? record.get('lng') ?? record.get('lon'),
    180,
  )
  if (latitude === undefined || longitude === undefined) return undefined
  return { latitude, longitude }
}

export interface Operator {
  /** 1 to 2^32 - 1. */
  readonly asn: number
  /** '' when absent. */
  readonly organisation: string
}

export function operatorOf(record: MmdbMap): Operator | undefined {
  const traits = record.get('traits')
  const number =
    record.get('autonomous_system_number') ??
    field(traits, 'autonomous_system_number') ??
    record.get('asn')
  const asn = asnOf(number)
  if (asn === undefined) return undefined
  const organisation =
    record.get('autonomous_system_organization') ??
    field(traits, 'autonomous_system_organization') ??
    record.get('as_name') ??
    record.get('name') ??
    record.get('org')
  return { asn, organisation: typeof organisation === 'string' ? organisation : '' }
}

function asnOf(value: MmdbValue | undefined): number | undefined {
  let number: number | undefined
  if (typeof value === 'number') number = value
  else if (typeof value === 'string' && /^(?:AS)?\d{1,10}$/i.test(value)) {
    number = Number(value.replace(/^AS/i, ''))
  }
  const isAsn = number !== undefined && Number.isInteger(number) && number > 0
  return isAsn && number! <= 0xffff_ffff ? number : undefined
}

/** Numbers, also as text. */
function degrees(value: MmdbValue | undefined, max: number): number | undefined {
  const isText = typeof value === 'string' && /^[+-]?\d{1,3}(?:\.\d{1,20})?$/.test(value)
  const number = isText ? Number(value) : value
  if (typeof number !== 'number' || !(Math.abs(number) <= max)) return undefined
  return number
}

function codeOf(value: MmdbValue | undefined): number {
  return typeof value === 'string' ? packCode(value) : 0
}

function field(value: MmdbValue | undefined, name: string): MmdbValue | undefined {
  return value instanceof Map ? (value as MmdbMap).get(name) : undefined
}
