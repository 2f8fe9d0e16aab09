// Converts a geo database to range tables and columns in shared memory, without garbage.
import { err, ok } from '#lib/result.ts'
import type { Result } from '#lib/result.ts'
import { fillCountryColumns, geoCountryRows } from '#routing/geo/countries.ts'
import type { GeoBuffers, LocationBuffers } from '#routing/geo/geo-tables.ts'
import { placeKeys } from '#routing/geo/place-key.ts'
import { RangeTableBuilder } from '#routing/tables/range-table-builder.ts'
import { AsnRows, LocationRows, SubdivisionRows } from './columns.ts'
import { geoLimits } from './limits.ts'
import type { Mmdb } from './mmdb.ts'
import { MmdbWalk } from './mmdb-tree.ts'
import type { NetworkSink } from './mmdb-tree.ts'
import {
  continentCodeOf,
  countryRowOf,
  operatorOf,
  placeOf,
  subdivisionOf,
  wantedFields,
} from './record.ts'

/** The setting that names a database, and so decides which fields are wanted. */
export type GeoSetting = 'geoip.dbPath' | 'asn.dbPath' | 'latency.geoipDBPath'

interface LoweredGeo {
  /** The wanted tables; others are null. */
  readonly buffers: GeoBuffers
  /** Networks in the file, before equal neighbours are merged. */
  readonly networks: number
}

interface Purpose {
  readonly country: boolean
  readonly location: boolean
  readonly asn: boolean
  /** Completes "… wants". */
  readonly wants: string
}

const purposes: Readonly<Record<GeoSetting, Purpose>> = Object.freeze({
  'geoip.dbPath': {
    country: true,
    location: true,
    asn: false,
    wants: 'a City or Country database',
  },
  'asn.dbPath': { country: false, location: false, asn: true, wants: 'an ASN database' },
  'latency.geoipDBPath': {
    country: true,
    location: false,
    asn: false,
    wants: 'a Country or City database',
  },
})

/** @returns an error as the end of a sentence that begins with "the database" */
export function lowerGeo(database: Mmdb, setting: GeoSetting): Result<LoweredGeo, string> {
  const purpose = purposes[setting]
  const lowering = new Lowering(database, purpose)
  const walk = new MmdbWalk(database.tree, lowering)
  const isWhole = walk.run()
  const fault = walk.fault ?? database.data.fault ?? lowering.fault
  if (!isWhole || fault !== undefined) return err(fault ?? 'could not be read')
  const { networks } = walk
  if (!lowering.hasFields) {
    const type = JSON.stringify(database.type)
    return err(
      `has the type ${type}, and none of its ${networks} networks says what is needed: ` +
        `${setting} wants ${purpose.wants}`,
    )
  }
  return ok({ buffers: lowering.buffers(), networks })
}

/** Rows by distinct record: each is decoded once, however many networks share it. */
class Lowering implements NetworkSink {
  fault: string | undefined
  readonly #database: Mmdb
  readonly #purpose: Purpose
  readonly #indexByOffset = new Map<number, number>()
  readonly #countryRowByIndex: number[] = []
  readonly #subdivisionRowByIndex: number[] = []
  readonly #locationRowByIndex: number[] = []
  readonly #asnRowByIndex: number[] = []
  readonly #countryRanges = new RangeTableBuilder()
  readonly #subdivisionRanges = new RangeTableBuilder()
  readonly #locationRanges = new RangeTableBuilder()
  readonly #asnRanges = new RangeTableBuilder()
  readonly #subdivisions = new SubdivisionRows()
  readonly #locations = new LocationRows()
  readonly #operators = new AsnRows()
  readonly #countryCode = shared(geoCountryRows, Uint16Array)
  readonly #continentCode = shared(geoCountryRows, Uint16Array)
  #countries = 0
  /** Neighbours often share a record. */
  #lastOffset = -1
  #lastIndex = -1

  constructor(database: Mmdb, purpose: Purpose) {
    this.#database = database
    this.#purpose = purpose
    fillCountryColumns(this.#countryCode, this.#continentCode)
  }

  get hasFields(): boolean {
    return this.#countries + this.#locations.count + this.#operators.count > 0
  }

  network4(start: number, end: number, dataOffset: number): boolean {
    const index = this.#indexOf(dataOffset)
    if (index === -1) return false
    const { country, location, asn } = this.#purpose
    if (country) {
      this.#countryRanges.add4(start, end, this.#countryRowByIndex[index]!)
      this.#subdivisionRanges.add4(start, end, this.#subdivisionRowByIndex[index]!)
    }
    if (location) this.#locationRanges.add4(start, end, this.#locationRowByIndex[index]!)
    if (asn) this.#asnRanges.add4(start, end, this.#asnRowByIndex[index]!)
    return true
  }

  network6(start: Uint32Array, end: Uint32Array, dataOffset: number): boolean {
    const index = this.#indexOf(dataOffset)
    if (index === -1) return false
    const { country, location, asn } = this.#purpose
    if (country) {
      this.#countryRanges.add6(start, end, this.#countryRowByIndex[index]!)
      this.#subdivisionRanges.add6(start, end, this.#subdivisionRowByIndex[index]!)
    }
    if (location) this.#locationRanges.add6(start, end, this.#locationRowByIndex[index]!)
    if (asn) this.#asnRanges.add6(start, end, this.#asnRowByIndex[index]!)
    return true
  }

  buffers(): GeoBuffers {
    const hasCountries = this.#countries > 0
    const hasLocations = this.#locations.count > 0
    const hasOperators = this.#operators.count > 0
    const codes = { countryCode: this.#countryCode, continentCode: this.#continentCode }
    const hasSubdivisions = this.#subdivisions.count > 0
    return {
      country: hasCountries
        ? {
            ranges: this.#countryRanges.build(),
            countryCode: codes.countryCode.buffer,
            continentCode: codes.continentCode.buffer,
            subdivisionCode: new SharedArrayBuffer(geoCountryRows * 4),
            outerSubdivisionCode: new SharedArrayBuffer(geoCountryRows * 4),
          }
        : null,
      subdivision: hasSubdivisions
        ? { ranges: this.#subdivisionRanges.build(), ...this.#subdivisions.columns(codes) }
        : null,
      location: hasLocations ? this.#locationBuffers() : null,
      asn: hasOperators ? { ranges: this.#asnRanges.build(), ...this.#operators.columns() } : null,
    }
  }

  #locationBuffers(): LocationBuffers {
    const columns = this.#locations.columns()
    return { ranges: this.#locationRanges.build(placeKeys(columns)), ...columns }
  }

  /** @returns -1 after a fault */
  #indexOf(offset: number): number {
    if (offset === this.#lastOffset) return this.#lastIndex
    const index = this.#indexByOffset.get(offset) ?? this.#decode(offset)
    this.#lastOffset = offset
    this.#lastIndex = index
    return index
  }

  #decode(offset: number): number {
    const index = this.#indexByOffset.size
    if (index === geoLimits.recordsMax) {
      this.fault = `has more than ${geoLimits.recordsMax} different records`
      return -1
    }
    const record = this.#database.data.read(offset, wantedFields)
    if (!(record instanceof Map)) {
      this.fault = 'has a record that is not a map'
      return -1
    }
    const { country, location, asn } = this.#purpose
    const countryRow = countryRowOf(record)
    if (country) {
      this.#addCountry(countryRow, continentCodeOf(record))
      const row = this.#subdivisions.row(subdivisionOf(record), countryRow)
      this.#subdivisionRowByIndex.push(row)
    }
    if (location) this.#locationRowByIndex.push(this.#locations.row(placeOf(record), countryRow))
    if (asn) this.#asnRowByIndex.push(this.#operators.row(operatorOf(record)))
    this.#indexByOffset.set(offset, index)
    return index
  }

  #addCountry(row: number, continent: number): void {
    this.#countryRowByIndex.push(row)
    if (row === 0) return
    this.#countries++
    // The database decides: Cyprus is not on the same continent for everyone.
    if (continent !== 0) this.#continentCode[row] = continent
  }
}

function shared(length: number, kind: typeof Uint16Array): Uint16Array<SharedArrayBuffer> {
  return new kind(new SharedArrayBuffer(length * kind.BYTES_PER_ELEMENT))
}
