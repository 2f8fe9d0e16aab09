// Defines the geo tables of the answer path: country, ASN and location of a client address.
import { RangeTable } from '#routing/tables/range-table.ts'

/**
 * Columns by row; row 0 is unknown. Rows are those of `countries.ts`, the same in every database;
 * rows of subdivisions follow.
 */
export interface CountryBuffers {
  readonly ranges: SharedArrayBuffer
  /** Uint16: two letters, the first in the high octet; 0 is unknown. */
  readonly countryCode: SharedArrayBuffer
  /** Uint16, as above. */
  readonly continentCode: SharedArrayBuffer
  /** Uint32: see `placeCode`; the smallest known subdivision, 0: only the country is known. */
  readonly subdivisionCode: SharedArrayBuffer
  /** Uint32: the subdivision around it; 0: none but the country. */
  readonly outerSubdivisionCode: SharedArrayBuffer
}

export interface AsnBuffers {
  readonly ranges: SharedArrayBuffer
  /** Uint32. */
  readonly asnNumber: SharedArrayBuffer
  /** Uint32, rows + 1 entries: offsets of the organisations in `organisationText`. */
  readonly organisationOffset: SharedArrayBuffer
  /** UTF-8, one after another. */
  readonly organisationText: SharedArrayBuffer
}

export interface LocationBuffers {
  readonly ranges: SharedArrayBuffer
  /** Float32: the place as a unit vector from the centre of the Earth; row 0 is the null vector. */
  readonly x: SharedArrayBuffer
  readonly y: SharedArrayBuffer
  readonly z: SharedArrayBuffer
  /** Uint16: the row of `countries.ts`. */
  readonly countryRow: SharedArrayBuffer
}

/**
 * All tables, in shared memory, so that they can be posted to every thread. Null: there is no
 * database.
 */
export interface GeoBuffers {
  readonly country: CountryBuffers | null
  /** The country table with subdivisions; null: no database knows any. */
  readonly subdivision: CountryBuffers | null
  readonly asn: AsnBuffers | null
  readonly location: LocationBuffers | null
}

export const noGeoBuffers: GeoBuffers = Object.freeze({
  country: null,
  subdivision: null,
  asn: null,
  location: null,
})

export class CountryTable {
  readonly ranges: RangeTable
  readonly countryCode: Uint16Array
  readonly continentCode: Uint16Array
  readonly subdivisionCode: Uint32Array
  readonly outerSubdivisionCode: Uint32Array

  constructor(buffers: CountryBuffers) {
    this.ranges = new RangeTable(buffers.ranges)
    this.countryCode = new Uint16Array(buffers.countryCode)
    this.continentCode = new Uint16Array(buffers.continentCode)
    this.subdivisionCode = new Uint32Array(buffers.subdivisionCode)
    this.outerSubdivisionCode = new Uint32Array(buffers.outerSubdivisionCode)
  }
}

const utf8 = new TextDecoder()

export class AsnTable {
  readonly ranges: RangeTable
  readonly asnNumber: Uint32Array
  readonly #organisationOffset: Uint32Array
  readonly #organisationText: Uint8Array

  constructor(buffers: AsnBuffers) {
    this.ranges = new RangeTable(buffers.ranges)
    this.asnNumber = new Uint32Array(buffers.asnNumber)
    this.#organisationOffset = new Uint32Array(buffers.organisationOffset)
    this.#organisationText = new Uint8Array(buffers.organisationText)
  }

  /** Returns the organisation for binding rules and for traces: it makes a string. */
  organisation(row: number): string {
    const from = this.#organisationOffset[row]!
    const to = this.#organisationOffset[row + 1]!
    // A TextDecoder does not accept shared memory.
    return utf8.decode(Uint8Array.from(this.#organisationText.subarray(from, to)))
  }
}

export class LocationTable {
  readonly ranges: RangeTable
  readonly x: Float32Array
  readonly y: Float32Array
  readonly z: Float32Array
  readonly countryRow: Uint16Array

  constructor(buffers: LocationBuffers) {
    this.ranges = new RangeTable(buffers.ranges)
    this.x = new Float32Array(buffers.x)
    this.y = new Float32Array(buffers.y)
    this.z = new Float32Array(buffers.z)
    this.countryRow = new Uint16Array(buffers.countryRow)
  }
}

export class GeoTables {
  readonly country: CountryTable | null
  readonly subdivision: CountryTable | null
  readonly asn: AsnTable | null
  readonly location: LocationTable | null

  constructor({ country, subdivision, asn, location }: GeoBuffers) {
    this.country = country === null ? null : new CountryTable(country)
    this.subdivision = subdivision === null ? null : new CountryTable(subdivision)
    this.asn = asn === null ? null : new AsnTable(asn)
    this.location = location === null ? null : new LocationTable(location)
  }
}
