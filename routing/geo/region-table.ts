// In which region of a bundle's members each client is, where some of them are subdivisions.
import { countryOfPlace, firstSubdivision } from '#bundle/format/routing-cells.ts'
import type { Bundle } from '#bundle/format/bundle.ts'
import { deriveRangeTable } from '#routing/tables/range-derive.ts'
import { continentRow, countryRow, geoCountryRows } from './countries.ts'
import { CountryTable } from './geo-tables.ts'
import type { CountryBuffers } from './geo-tables.ts'

/** Regions that are places: countries, continents, subdivisions. Empty: no subdivision is one. */
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
 * Thousands of subdivisions would cut networks in pieces that no member tells apart. Here only the
 * regions of members are: other subdivisions are their country, other countries their continent.
 *
 * @param buffers with subdivisions
 * @returns null when it knows no subdivision among the regions: the countries alone will do
 */
export function regionTable(
  buffers: CountryBuffers,
  regions: ReadonlySet<number>,
): CountryBuffers | null {
  const { ranges, countryCode, continentCode, subdivisionCode } = new CountryTable(buffers)
  const countries = new Set([...regions].map(countryOfPlace))
  const valueOf = new Uint32Array(countryCode.length)
  let hasSubdivision = false
  for (let row = 1; row < countryCode.length; row++) {
    const country = countryCode[row]!
    const isKept = row >= geoCountryRows && regions.has(subdivisionCode[row]!)
    if (isKept) hasSubdivision = true
    const continent = continentRow(continentCode[row]!)
    // A country that lies on no continent is another place than an unknown one.
    const isCountry = country !== 0 && (countries.has(country) || continent === 0)
    valueOf[row] = isKept ? row : isCountry ? countryRow(country) : continent
  }
  if (!hasSubdivision) return null
  return { ...buffers, ranges: deriveRangeTable(ranges, valueOf) }
}
