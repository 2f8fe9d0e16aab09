// Checks the regions of members: whether clients can be in one, and what an unknown one probably
// means.
import { anyContinentRegion } from '#bundle/format/routing-cells.ts'
import { suggest } from '#lib/suggest.ts'
import { continentCodes, isCountryCode, unpackCode } from '#routing/geo/countries.ts'

const continentPrefix = 'continent:'
/** Values without a place: the default of the schema, and the one for all regions. */
const noRegion: readonly string[] = ['', 'unknown', anyContinentRegion]

/**
 * False: the filter geo-ip never finds a client in the region. Case-sensitive, as the filter is.
 * Subdivisions are checked against the databases.
 */
export function isRegionOfClients(region: string): boolean {
  if (noRegion.includes(region)) return true
  if (region.startsWith(continentPrefix)) {
    return continentCodes.includes(region.slice(continentPrefix.length))
  }
  const country = /^([A-Z]{2})(?:-[0-9A-Z]{1,3})?$/.exec(region)?.[1]
  return country !== undefined && isCountryCode(country)
}

/** Common names and codes for those of ISO 3166. */
const usualNames: Readonly<Record<string, string>> = Object.freeze({
  uk: 'GB',
  usa: 'US',
  uae: 'AE',
  africa: 'continent:AF',
  antarctica: 'continent:AN',
  asia: 'continent:AS',
  eu: 'continent:EU',
  europe: 'continent:EU',
  'north america': 'continent:NA',
  oceania: 'continent:OC',
  'south america': 'continent:SA',
})

/** @returns the region probably meant, or undefined */
export function suggestRegion(region: string): string | undefined {
  const text = region.trim().toLowerCase()
  const isContinent = text.startsWith(continentPrefix)
  const name = (isContinent ? text.slice(continentPrefix.length) : text).trim()
  const code = name.toUpperCase()
  if (isContinent && continentCodes.includes(code)) return continentPrefix + code
  const usual = usualNames[name.replaceAll(/[ _-]+/g, ' ')]
  if (isContinent) return usual?.startsWith(continentPrefix) === true ? usual : undefined
  if (usual !== undefined) return usual
  if (isCountryCode(code)) return code
  // The form of ISO 3166-2.
  const [, country = '', subdivision] = /^([A-Z]{2})[-_ ]([0-9A-Z]{1,3})$/.exec(code) ?? []
  const known = usualNames[country.toLowerCase()] ?? country
  if (isCountryCode(known)) return `${known}-${subdivision}`
  const near = suggest(name, countriesByName().keys())
  return near === undefined ? undefined : countriesByName().get(near)
}

let byName: ReadonlyMap<string, string> | undefined

/** Country codes by lower-case English name. */
function countriesByName(): ReadonlyMap<string, string> {
  if (byName !== undefined) return byName
  const names = new Intl.DisplayNames(['en'], { type: 'region' })
  const codes: string[] = []
  for (let high = 0x41; high <= 0x5a; high++) {
    for (let low = 0x41; low <= 0x5a; low++) codes.push(unpackCode((high << 8) | low))
  }
  byName = new Map(
    codes.filter(isCountryCode).map((code) => [(names.of(code) ?? code).toLowerCase(), code]),
  )
  return byName
}
