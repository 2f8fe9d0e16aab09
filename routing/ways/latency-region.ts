// latency as algorithm: a random member, weighted by a bonus for the client's region and by
// round-trip time.
import { continentBit, countryOfPlace, placeCode } from '#bundle/format/routing-cells.ts'
import type { Chain } from '#routing/chain/chain.ts'
import { countryRow } from '#routing/geo/countries.ts'
import type { CountryTable } from '#routing/geo/geo-tables.ts'
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
    const fallback = placeCode(fallbackRegion)
    const fallbackRow = countryRow(countryOfPlace(fallback))
    const likeness: Likeness = {
      kind: LikenessKind.Region,
      isAlike(chain: Chain, value: number): boolean {
        return regionOf(chain, country!, value, fallback, fallbackRow) === chain.picked
      },
    }
    return (chain) => {
      const { bundle, state, members, keys } = chain
      // Before the client is looked at: where nothing was measured it does not matter who asks.
      if (!keepMeasured(chain)) return
      // Without geo data there is no bonus.
      chain.picked = 0
      if (country !== null) {
        const row = rowOfClient(country.ranges, chain)
        const value = valueOfRow(country.ranges, chain, row)
        chain.picked = regionOf(chain, country, value, fallback, fallbackRow)
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

/**
 * The region of candidates that the client is in: a subdivision, else a country, else a continent,
 * else 0. Row 0 is of clients that the database does not know: they are where the settings say.
 */
function regionOf(
  chain: Chain,
  table: CountryTable,
  row: number,
  fallback: number,
  fallbackRow: number,
): number {
  const { bundle, members, count } = chain
  const subdivision = row === 0 ? fallback : table.subdivisionCode[row]!
  const country = table.countryCode[row === 0 ? fallbackRow : row]!
  const continent = table.continentCode[row === 0 ? fallbackRow : row]!
  let region = 0
  for (let i = 0; i < count; i++) {
    const place = bundle.memberPlace[members[i]!]!
    if (place === 0) continue
    if (place === subdivision) return place
    if (place === country) region = place
    else if (region === 0 && place === (continent | continentBit)) region = place
  }
  return region
}
