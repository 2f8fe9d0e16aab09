// latency as algorithm: draws a member, weighted by a bonus for the client's region and by
// round-trip time.
import {
  anyContinent,
  continentBit,
  countryOfPlace,
  placeCode,
} from '#bundle/format/routing-cells.ts'
import type { Chain } from '#routing/chain/chain.ts'
import { countryRow } from '#routing/geo/countries.ts'
import type { CountryTable } from '#routing/geo/geo-tables.ts'
import { outerSubdivision } from '#routing/geo/subdivisions.ts'
import { keepMeasured } from './latency.ts'
import { drawByKeys } from './weighted-round-robin.ts'
import { rowOfClient, valueOfRow } from '#routing/chain/lookup-client.ts'
import { LikenessKind, needAlike } from '#routing/chain/scope.ts'
import type { Likeness } from '#routing/chain/scope.ts'
import type { Way } from '#routing/choose/way.ts'

const nanosecondsPerMs = 1e6

export const latencyRegion: Way = {
  name: 'latency',
  aliases: [],
  usedAs: ['algorithm'],
  kind: 'selecting',
  leaves: 'all',
  picksAny: false,
  needs: ['round-trips'],
  reads: 'latency',
  likeness: [LikenessKind.Region],
  page: {
    does: "draws by `bonus + 1 / RTT in ns`; the bonus is for members of the client's region",
    settings: '`latency`',
    scope: "the client's region",
  },
  bind({ regions: country, settings }) {
    const { regionBonusMultiplier, fallbackRegion } = settings.latency
    const inner = placeCode(fallbackRegion)
    const fallback: Fallback = {
      inner,
      outer: outerSubdivision(inner),
      countryRow: countryRow(countryOfPlace(inner)),
    }
    const likeness: Likeness = {
      kind: LikenessKind.Region,
      isAlike(chain: Chain, value: number): boolean {
        return regionOf(chain, country!, value, fallback) === chain.picked
      },
    }
    return (chain) => {
      const { bundle, state, members, keys } = chain
      // Comes before any look at the client: without measurements the client does not matter.
      if (!keepMeasured(chain)) return
      // Without geo data there is no bonus.
      chain.picked = 0
      if (country !== null) {
        const row = rowOfClient(country.ranges, chain)
        const value = valueOfRow(country.ranges, chain, row)
        chain.picked = regionOf(chain, country, value, fallback)
        if (regionBonusMultiplier !== 0) needAlike(chain, country.ranges, row, likeness)
      }
      for (let i = 0; i < chain.count; i++) {
        const member = members[i]!
        const isNear = chain.picked !== 0 && bundle.memberPlace[member] === chain.picked
        const rttNanos = state.memberRttMs[member]! * nanosecondsPerMs
        keys[i] = (isNear ? regionBonusMultiplier : 0) + 1 / rttNanos
      }
      drawByKeys(chain)
    }
  },
}

/** The place of clients that the database does not know. */
interface Fallback {
  /** See `placeCode`; 0: none. */
  readonly inner: number
  readonly outer: number
  readonly countryRow: number
}

/**
 * The client's region among those of the candidates: its subdivision, else the enclosing one, else
 * the country, else the continent, else 0. Row 0 is for clients that the database does not know.
 */
function regionOf(chain: Chain, table: CountryTable, row: number, fallback: Fallback): number {
  const { bundle, members, count } = chain
  const countryRow = row === 0 ? fallback.countryRow : row
  const inner = row === 0 ? fallback.inner : table.subdivisionCode[row]!
  const outer = row === 0 ? fallback.outer : table.outerSubdivisionCode[row]!
  const country = table.countryCode[countryRow]!
  const continent = table.continentCode[countryRow]! | continentBit
  let region = 0
  for (let i = 0; i < count; i++) {
    const place = bundle.memberPlace[members[i]!]!
    if (place === 0 || place === anyContinent) continue
    if (place === inner) return place
    if (place === outer) region = place
    else if (region === outer && region !== 0) continue
    else if (place === country) region = place
    else if (region === 0 && place === continent) region = place
  }
  return region
}
