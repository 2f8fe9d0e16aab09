// Makes geo tables in which every address is at the place that a case gives its client.
import type { Bundle } from '#bundle/format/bundle.ts'
import { placeCode } from '#bundle/format/routing-cells.ts'
import type { RoutingTables } from '#routing/choose/environment.ts'
import { countryRow, fillCountryColumns, geoCountryRows, packCode } from '#routing/geo/countries.ts'
import type { AsnBuffers, CountryBuffers, GeoBuffers } from '#routing/geo/geo-tables.ts'
import type { LocationBuffers } from '#routing/geo/geo-tables.ts'
import { placeKeys } from '#routing/geo/place-key.ts'
import { outerSubdivision } from '#routing/geo/subdivisions.ts'
import { packNetworks } from '#routing/tables/network-index.ts'
import { RangeTableBuilder } from '#routing/tables/range-table-builder.ts'
import { AsnRows, LocationRows, SubdivisionRows } from '#inputs/geo/columns.ts'
import { GeoLink } from '#inputs/geo/geo-link.ts'
import type { Given } from '#schemas/objects/policy-test.ts'

/** The number of an operator that is given by name: one for documentation (RFC 5398). */
const documentAsn = 64_496

/** Cases with equal keys share tables. */
export function placeKeyOf({ country, location, asn, operator }: Given): string {
  return JSON.stringify([country, location?.lat, location?.lon, asn, operator])
}

/**
 * Makes the tables. No database of the node is used, so that a test has the same result everywhere.
 */
export class ClientPlaces {
  readonly #bundle: Bundle
  readonly #networks: SharedArrayBuffer | null

  constructor(bundle: Bundle) {
    this.#bundle = bundle
    this.#networks = packNetworks(bundle)
  }

  tablesFor(given: Given): RoutingTables {
    const buffers = buffersFor(given)
    const link = new GeoLink({ onChange: (handler) => handler(buffers) }, () => undefined)
    return { ...link.tablesFor(this.#bundle), networks: this.#networks }
  }
}

function buffersFor({ country, location, asn, operator }: Given): GeoBuffers {
  const row = country === undefined ? 0 : countryRow(packCode(country.slice(0, 2)))
  return {
    country: country === undefined ? null : countriesOf(row),
    subdivision: country?.includes('-') === true ? subdivisionsOf(country, row) : null,
    location: location === undefined ? null : locationsOf(location, row),
    asn: asn === undefined && operator === undefined ? null : operatorsOf(asn, operator),
  }
}

function countriesOf(row: number): CountryBuffers {
  return {
    ranges: everywhere(row).build(),
    ...plainColumns(),
    subdivisionCode: new SharedArrayBuffer(geoCountryRows * 4),
    outerSubdivisionCode: new SharedArrayBuffer(geoCountryRows * 4),
  }
}

function subdivisionsOf(place: string, row: number): CountryBuffers {
  const rows = new SubdivisionRows()
  const inner = placeCode(place)
  const ranges = everywhere(rows.row({ inner, outer: outerSubdivision(inner) }, row)).build()
  const { countryCode, continentCode } = plainColumns()
  return {
    ranges,
    ...rows.columns({
      countryCode: new Uint16Array(countryCode),
      continentCode: new Uint16Array(continentCode),
    }),
  }
}

function locationsOf({ lat, lon }: { lat: number; lon: number }, row: number): LocationBuffers {
  const rows = new LocationRows()
  const ranges = everywhere(rows.row({ latitude: lat, longitude: lon }, row))
  const columns = rows.columns()
  return { ranges: ranges.build(placeKeys(columns)), ...columns }
}

function operatorsOf(asn = documentAsn, organisation = ''): AsnBuffers {
  const rows = new AsnRows()
  const ranges = everywhere(rows.row({ asn, organisation })).build()
  return { ranges, ...rows.columns() }
}

function plainColumns() {
  const countryCode = new SharedArrayBuffer(geoCountryRows * 2)
  const continentCode = new SharedArrayBuffer(geoCountryRows * 2)
  fillCountryColumns(new Uint16Array(countryCode), new Uint16Array(continentCode))
  return { countryCode, continentCode }
}

function everywhere(row: number): RangeTableBuilder {
  const ranges = new RangeTableBuilder()
  ranges.add4(0, 0xffff_ffff, row)
  ranges.add6(new Uint32Array(4), new Uint32Array(4).fill(0xffff_ffff), row)
  return ranges
}
