// geo-ip in a chain: members of the client's country, then of its continent.
import { continentBit } from '#bundle/format/routing-cells.ts'
import type { Chain } from '#routing/chain/chain.ts'
import { rowOfClient, valueOfRow } from '#routing/chain/lookup-client.ts'
import { LikenessKind, needAlike } from '#routing/chain/scope.ts'
import type { Likeness } from '#routing/chain/scope.ts'
import type { Filter } from '#routing/choose/step.ts'

/** What a region is worth to a client where no member has the client's country or continent. */
const Preference = { SameContinent: 2, NoRegion: 1, Elsewhere: 0 } as const

export const geoIp: Filter = {
  name: 'geo-ip',
  aliases: ['geoip'],
  kind: 'narrowing',
  bind({ geo }) {
    const { country } = geo
    if (country === null) return () => undefined
    const { ranges, countryCode, continentCode } = country
    const continentOf = createContinents(countryCode, continentCode)
    /** What the step does for a client, as a number: two that differ do not do the same. */
    const actionFor = (chain: Chain, value: number): number => {
      const code = countryCode[value]!
      const continent = continentCode[value]!
      const region = code !== 0 && countIn(chain, code) > 0 ? code : continent | continentBit
      const inRegion = countIn(chain, region)
      if (inRegion > 0) return inRegion === chain.count ? keepsAll : region
      if (isInOrder(chain, continent, continentOf)) return keepsAll
      return sorts | (hasNear(chain, continent, continentOf) ? continent : 0)
    }
    const likeness: Likeness = {
      kind: LikenessKind.Country,
      isAlike: (chain: Chain, value: number): boolean => actionFor(chain, value) === chain.picked,
    }
    return (chain) => {
      const row = rowOfClient(ranges, chain)
      chain.picked = actionFor(chain, valueOfRow(ranges, chain, row))
      needAlike(chain, ranges, row, likeness)
      if (chain.picked === keepsAll) return
      if (chain.picked < sorts) keepRegion(chain, chain.picked)
      else sortByContinent(chain, chain.picked & 0xffff, continentOf)
    }
  },
}

const keepsAll = 0
const sorts = 0x1_0000

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
    if (preferenceFor(place, continent, of) === Preference.SameContinent) return true
  }
  return false
}

/** Sorting would change nothing. */
function isInOrder({ bundle, members, count }: Chain, continent: number, of: Uint16Array): boolean {
  let before: number = Preference.SameContinent
  for (let i = 0; i < count; i++) {
    const preference = preferenceFor(bundle.memberPlace[members[i]!]!, continent, of)
    if (preference > before) return false
    before = preference
  }
  return true
}

function preferenceFor(place: number, continent: number, continentOf: Uint16Array): number {
  if (place === 0) return Preference.NoRegion
  const isNear = place < continentBit && continent !== 0 && continentOf[place] === continent
  return isNear ? Preference.SameContinent : Preference.Elsewhere
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

function sortByContinent(chain: Chain, continent: number, continentOf: Uint16Array): void {
  const { bundle, members, keys, count } = chain
  for (let i = 0; i < count; i++) {
    keys[i] = preferenceFor(bundle.memberPlace[members[i]!]!, continent, continentOf)
  }
  chain.sortByKeys()
}
