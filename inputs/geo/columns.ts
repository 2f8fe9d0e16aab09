// Collects distinct places and network operators into columns of shared memory.
import { geoCountryRows } from '#routing/geo/countries.ts'
import type { AsnBuffers, CountryBuffers, LocationBuffers } from '#routing/geo/geo-tables.ts'
import { geoLimits } from './limits.ts'
import type { Operator, Place, Subdivision } from './record.ts'

const radiansPerDegree = Math.PI / 180

export class SubdivisionRows {
  /** Rows by the inner subdivision, then by the outer one. */
  readonly #rows = new Map<number, Map<number, number>>()
  readonly #found: { readonly place: Subdivision; readonly countryRow: number }[] = []

  /** Number of distinct subdivisions. */
  get count(): number {
    return this.#found.length
  }

  /** @returns a row after those of countries; the country's own for an unknown subdivision */
  row(place: Subdivision, countryRow: number): number {
    const { inner, outer } = place
    if (inner === 0) return countryRow
    let byOuter = this.#rows.get(inner)
    if (byOuter === undefined) this.#rows.set(inner, (byOuter = new Map<number, number>()))
    const known = byOuter.get(outer)
    if (known !== undefined) return known
    const row = geoCountryRows + this.#found.length
    byOuter.set(outer, row)
    this.#found.push({ place, countryRow })
    return row
  }

  /** @param countries final columns of countries; a subdivision has its country's continent */
  columns(countries: {
    readonly countryCode: Uint16Array
    readonly continentCode: Uint16Array
  }): Omit<CountryBuffers, 'ranges'> {
    const rows = geoCountryRows + this.#found.length
    const countryCode = new Uint16Array(new SharedArrayBuffer(rows * 2))
    const continentCode = new Uint16Array(new SharedArrayBuffer(rows * 2))
    const subdivisionCode = new Uint32Array(new SharedArrayBuffer(rows * 4))
    const outerSubdivisionCode = new Uint32Array(new SharedArrayBuffer(rows * 4))
    countryCode.set(countries.countryCode)
    continentCode.set(countries.continentCode)
    for (const [i, { place, countryRow }] of this.#found.entries()) {
      const row = geoCountryRows + i
      countryCode[row] = countries.countryCode[countryRow]!
      continentCode[row] = countries.continentCode[countryRow]!
      subdivisionCode[row] = place.inner
      outerSubdivisionCode[row] = place.outer
    }
    return {
      countryCode: countryCode.buffer,
      continentCode: continentCode.buffer,
      subdivisionCode: subdivisionCode.buffer,
      outerSubdivisionCode: outerSubdivisionCode.buffer,
    }
  }
}

export class LocationRows {
  readonly #rows = new Map<string, number>()
  readonly #places: Place[] = [{ latitude: 0, longitude: 0 }]
  readonly #countryRows: number[] = [0]

  /** Number of known places. */
  get count(): number {
    return this.#rows.size
  }

  /** @returns 0 for an unknown place */
  row(place: Place | undefined, countryRow: number): number {
    if (place === undefined) return 0
    const key = `${place.latitude},${place.longitude},${countryRow}`
    const known = this.#rows.get(key)
    if (known !== undefined) return known
    const row = this.#places.length
    this.#rows.set(key, row)
    this.#places.push(place)
    this.#countryRows.push(countryRow)
    return row
  }

  columns(): Omit<LocationBuffers, 'ranges'> {
    const rows = this.#places.length
    const [x, y, z] = [rows * 4, rows * 4, rows * 4].map((bytes) => new SharedArrayBuffer(bytes))
    const [xs, ys, zs] = [new Float32Array(x!), new Float32Array(y!), new Float32Array(z!)]
    // Row 0 stays the null vector.
    for (let row = 1; row < rows; row++) {
      const { latitude, longitude } = this.#places[row]!
      const phi = latitude * radiansPerDegree
      const lambda = longitude * radiansPerDegree
      xs[row] = Math.cos(phi) * Math.cos(lambda)
      ys[row] = Math.cos(phi) * Math.sin(lambda)
      zs[row] = Math.sin(phi)
    }
    const countryRow = new SharedArrayBuffer(rows * 2)
    new Uint16Array(countryRow).set(this.#countryRows)
    return { x: x!, y: y!, z: z!, countryRow }
  }
}

export class AsnRows {
  readonly #rows = new Map<string, number>()
  readonly #operators: Operator[] = [{ asn: 0, organisation: '' }]

  get count(): number {
    return this.#rows.size
  }

  /** @returns 0 for an unknown operator */
  row(operator: Operator | undefined): number {
    if (operator === undefined) return 0
    const organisation = operator.organisation.slice(0, geoLimits.organisationCharsMax)
    const key = `${operator.asn} ${organisation}`
    const known = this.#rows.get(key)
    if (known !== undefined) return known
    const row = this.#operators.length
    this.#rows.set(key, row)
    this.#operators.push({ asn: operator.asn, organisation })
    return row
  }

  columns(): Omit<AsnBuffers, 'ranges'> {
    const rows = this.#operators.length
    const asnNumber = new SharedArrayBuffer(rows * 4)
    const organisationOffset = new SharedArrayBuffer((rows + 1) * 4)
    const numbers = new Uint32Array(asnNumber)
    const offsets = new Uint32Array(organisationOffset)
    for (const [row, { asn, organisation }] of this.#operators.entries()) {
      numbers[row] = asn
      offsets[row + 1] = offsets[row]! + Buffer.byteLength(organisation)
    }
    const organisationText = new SharedArrayBuffer(offsets[rows]!)
    const text = Buffer.from(organisationText)
    for (const [row, { organisation }] of this.#operators.entries()) {
      text.write(organisation, offsets[row]!)
    }
    return { asnNumber, organisationOffset, organisationText }
  }
}
