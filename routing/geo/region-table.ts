// Maps clients to the regions of a bundle's members when some regions are subdivisions.
import { countryOfPlace, firstSubdivision } from '#bundle/format/routing-cells.ts'
import type { Bundle } from '#bundle/format/bundle.ts'
import { deriveRangeTable } from '#routing/tables/range-derive.ts'
import { continentRow, countryRow, geoCountryRows } from './countries.ts'
import { CountryTable } from './geo-tables.ts'
import type { CountryBuffers } from './geo-tables.ts'

/**
 * Returns the regions that are places: countries, continents, subdivisions; empty when none is a
 * subdivision.
 */
export function regionsWithSubdivisions({ memberPlace }: Bundle): ReadonlySet<number> {
  const places = new Set<number>()
  let hasSubdivision = false
  let last = 0
  for (const place of memberPlace) {
    if (place === last) continue
    last = place
    if (place >= firstSubdivision) hasSubdivision = true
    places.add(place)
  }
  return hasSubdivision ? places : new Set()
}

/**
 * Reduces the table to the regions of members: thousands of other subdivisions would only split
 * networks. Other subdivisions become their country, other countries their continent.
 *
 * @param buffers with subdivisions
 * @returns null when no region is a subdivision: the country table is enough
 */
export function regionTable(
  buffers: CountryBuffers,
  regions: ReadonlySet<number>,
): CountryBuffers | null {
  const table = new CountryTable(buffers)
  const { ranges, countryCode, continentCode } = table
  const countries = new Set([...regions].map(countryOfPlace))
  const valueOf = new Uint32Array(countryCode.length)
  const kept = new KeptRows(table, regions)
  for (let row = 1; row < countryCode.length; row++) {
    const country = countryCode[row]!
    const continent = continentRow(continentCode[row]!)
    // A country without a continent differs from an unknown one.
    const isCountry = country !== 0 && (countries.has(country) || continent === 0)
    valueOf[row] = kept.rowFor(row) || (isCountry ? countryRow(country) : continent)
  }
  if (kept.count === 0) return null
  return { ...buffers, ranges: deriveRangeTable(ranges, valueOf) }
}

/** One row stands for all subdivisions that members distinguish only by the larger one. */
class KeptRows {
  /** Rows that belong to a region. */
  count = 0
  readonly #table: CountryTable
  readonly #regions: ReadonlySet<number>
  readonly #rowByOuter = new Map<number, number>()

  constructor(table: CountryTable, regions: ReadonlySet<number>) {
    this.#table = table
    this.#regions = regions
  }

  /** @returns 0 for a row that belongs to no region with a subdivision */
  rowFor(row: number): number {
    if (row < geoCountryRows) return 0
    const inner = this.#table.subdivisionCode[row]!
    const isKept = this.#regions.has(inner)
    const outer = this.#table.outerSubdivisionCode[row]!
    if (!isKept && !this.#regions.has(outer)) return 0
    this.count++
    if (isKept) return row
    if (!this.#rowByOuter.has(outer)) this.#rowByOuter.set(outer, row)
    return this.#rowByOuter.get(outer)!
  }
}
