// The row layouts of routing: policies of services, locations of endpoints.

/**
 * A row of `policyRow`: the policy of a service that is not plain. `Text`: canonical JSON of a
 * PolicyText. `OnAllDown`: one of OnAllDownCode. `FallbackPool`: index + 1; 0 none.
 */
export const PolicyCell = {
  Words: 4,
  Text: 0,
  OnAllDown: 1,
  FallbackPool: 2,
  AnswerCount: 3,
} as const

export const OnAllDownCode = { Empty: 0, All: 1, Pool: 2 } as const

/** The `Algorithm` cell of a node holds a way's code, or this plus a row of `policyRow`. */
export const firstPolicyCode = 256

/** The steps of a policy, not yet bound. */
export interface PolicyText {
  readonly algorithm: string
  readonly filterChain: readonly string[]
}

/** A row of `endpointVector`: a point on the unit sphere, times `vectorUnit`; then 1 if known. */
export const EndpointCell = { Words: 4, X: 0, Y: 1, Z: 2, IsKnown: 3 } as const
export const vectorUnit = 0x4000_0000

/**
 * Encodes a region as a number below 2^31: the two upper-case letters of a country, the first in
 * the high octet; `continent:EU` likewise with `continentBit`, which alone is `continent:*`;
 * `US-CA` (ISO 3166-2) as its country, and above that one to three letters or digits. 0: another
 * label.
 */
export function placeCode(region: string): number {
  if (region === anyContinentRegion) return anyContinent
  const match = /^(continent:)?([A-Z])([A-Z])(?:-([0-9A-Z]{1,3}))?$/.exec(region)
  if (match === null) return 0
  const [, continent, high, low, subdivision] = match
  const letters = (high!.charCodeAt(0) << 8) | low!.charCodeAt(0)
  if (subdivision === undefined) return letters | (continent === undefined ? 0 : continentBit)
  if (continent !== undefined) return 0
  // From 2 on, so that subdivisions are above all continents.
  let number = 0
  for (const sign of subdivision) number = number * signBase + signs.indexOf(sign) + 1
  return (number + 1) * firstAboveCountry + letters
}
/** Countries are below, continents from here on. */
export const continentBit = 0x8000
/** `continent:*`: for clients that no other region matches. */
export const anyContinent = continentBit
export const anyContinentRegion = 'continent:*'
/** Subdivisions are from here on. */
export const firstSubdivision = 0x1_0000
const firstAboveCountry = 0x8000
const signs = '0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZ'
/** Signs are numbered from 1, so that 0 means none. */
const signBase = signs.length + 1

/** The country of a country or a subdivision; else 0. */
export function countryOfPlace(place: number): number {
  const isContinent = place >= continentBit && place < firstSubdivision
  return isContinent ? 0 : place & (firstAboveCountry - 1)
}

/** The inverse of `placeCode`; '' for 0. */
export function placeName(place: number): string {
  if (place === 0) return ''
  if (place === anyContinent) return anyContinentRegion
  const letters = place & (firstAboveCountry - 1)
  const country = String.fromCharCode(letters >> 8, letters & 0xff)
  if (place < continentBit) return country
  if (place < firstSubdivision) return `continent:${country}`
  let subdivision = ''
  let left = Math.floor(place / firstAboveCountry) - 1
  for (; left > 0; left = Math.floor(left / signBase)) {
    subdivision = signs[(left % signBase) - 1]! + subdivision
  }
  return `${country}-${subdivision}`
}
