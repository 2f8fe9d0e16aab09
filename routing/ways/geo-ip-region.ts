// geo-ip as filter: keeps members of the client's subdivision, else its country, else its
// continent, else those without a region.
import { anyContinent, continentBit, countryOfPlace } from '#bundle/format/routing-cells.ts'
import type { Chain } from '#routing/chain/chain.ts'
import { LikenessKind } from '#routing/chain/scope.ts'
import { createTableStep } from '#routing/choose/table-step.ts'
import type { Way } from '#routing/choose/way.ts'

/** Preference for a region when no member is in the client's own. */
const Preference = { SameCountry: 3, SameContinent: 2, NoRegion: 1, Elsewhere: 0 } as const

export const geoIpRegion: Way = {
  name: 'geo-ip',
  aliases: ['geoip'],
  usedAs: ['filter'],
  kind: 'narrowing',
  leaves: 'fewer',
  picksAny: false,
  needs: ['regions', 'two-regions'],
  likeness: [LikenessKind.Country],
  page: {
    does:
      "keeps members whose `region` is the client's; first its subdivision (`IT-MI`), then the " +
      'one that it lies in (`IT-25`), its country (`IT`), its continent (`continent:EU`), ' +
      '`continent:*`; else see [regions](#regions)',
    settings: "members' `region`",
    scope: 'the region, or what acts like it',
  },
  bind({ regions }) {
    if (regions === null) return keepForEverybody
    const { ranges, countryCode, continentCode, subdivisionCode, outerSubdivisionCode } = regions
    const continentOf = createContinents(countryCode, continentCode)
    const actionFor = (chain: Chain, value: number): number => {
      const code = countryCode[value]!
      const continent = continentCode[value]!
      let region = subdivisionCode[value]!
      if (region === 0 || countIn(chain, region) === 0) region = outerSubdivisionCode[value]!
      if (region === 0 || countIn(chain, region) === 0) region = code
      if (region === 0 || countIn(chain, region) === 0) region = continent | continentBit
      if (countIn(chain, region) === 0) region = anyContinent
      const inRegion = countIn(chain, region)
      if (inRegion > 0) return inRegion === chain.count ? keepsAll : region
      if (isInOrder(chain, code, continent, continentOf)) return keepsAll
      if (isByCountry(chain, code, continent, continentOf)) return sortsByCountry - code
      return sortsByContinent - (hasNear(chain, continent, continentOf) ? continent : 0)
    }
    return createTableStep({
      ranges,
      values: countryCode.length,
      kind: LikenessKind.Country,
      actionFor,
      act(chain) {
        if (chain.picked === keepsAll) return
        if (chain.picked > 0) keepRegion(chain, chain.picked)
        else sortByPreference(chain, chain.picked, continentOf)
      },
    })
  },
}

const keepsAll = 0
/** Minus the client's continent; 0 where no candidate is near. */
const sortsByContinent = -1
/** Minus the client's country. */
const sortsByCountry = -0x1_0000

/** Continent by country code. */
function createContinents(countryCode: Uint16Array, continentCode: Uint16Array): Uint16Array {
  const continents = new Uint16Array(0x8000)
  for (let row = 1; row < countryCode.length; row++) {
    if (countryCode[row]! < 0x8000) continents[countryCode[row]!] = continentCode[row]!
  }
  return continents
}

function countIn({ bundle, members, count }: Chain, place: number): number {
  let found = 0
  for (let i = 0; i < count; i++) if (bundle.memberPlace[members[i]!] === place) found++
  return found
}

function hasNear({ bundle, members, count }: Chain, continent: number, of: Uint16Array): boolean {
  for (let i = 0; i < count; i++) {
    const place = bundle.memberPlace[members[i]!]!
    if (preferenceFor(place, 0, continent, of) === Preference.SameContinent) return true
  }
  return false
}

/** True when sorting would change nothing. */
function isInOrder(
  { bundle, members, count }: Chain,
  country: number,
  continent: number,
  continentOf: Uint16Array,
): boolean {
  let before: number = Preference.SameCountry
  for (let i = 0; i < count; i++) {
    const place = bundle.memberPlace[members[i]!]!
    const preference = preferenceFor(place, country, continent, continentOf)
    if (preference > before) return false
    before = preference
  }
  return true
}

/** False: sorting by the continent alone gives the same, as for its other countries. */
function isByCountry(
  { bundle, members, count }: Chain,
  country: number,
  continent: number,
  continentOf: Uint16Array,
): boolean {
  let isBehind = continent === 0
  for (let i = 0; i < count; i++) {
    const place = bundle.memberPlace[members[i]!]!
    const preference = preferenceFor(place, country, continent, continentOf)
    if (preference === Preference.SameContinent) isBehind = true
    else if (preference === Preference.SameCountry && isBehind) return true
  }
  return false
}

/** @param country 0: it does not count. No candidate has it as region: it is of a subdivision. */
function preferenceFor(
  place: number,
  country: number,
  continent: number,
  continentOf: Uint16Array,
): number {
  if (place === 0) return Preference.NoRegion
  const own = countryOfPlace(place)
  if (own === 0) return Preference.Elsewhere
  if (own === country) return Preference.SameCountry
  const isNear = continent !== 0 && continentOf[own] === continent
  return isNear ? Preference.SameContinent : Preference.Elsewhere
}

/** Without a database no client has a place. */
function keepForEverybody(chain: Chain): void {
  if (countIn(chain, anyContinent) > 0) keepRegion(chain, anyContinent)
}

function keepRegion(chain: Chain, place: number): void {
  const { bundle, members, count } = chain
  let kept = 0
  for (let i = 0; i < count; i++) {
    const member = members[i]!
    if (bundle.memberPlace[member] === place) members[kept++] = member
  }
  chain.count = kept
}

function sortByPreference(chain: Chain, action: number, continentOf: Uint16Array): void {
  const { bundle, members, keys, count } = chain
  const country = action <= sortsByCountry ? sortsByCountry - action : 0
  const continent = country === 0 ? sortsByContinent - action : continentOf[country]!
  for (let i = 0; i < count; i++) {
    keys[i] = preferenceFor(bundle.memberPlace[members[i]!]!, country, continent, continentOf)
  }
  chain.sortByKeys()
}
