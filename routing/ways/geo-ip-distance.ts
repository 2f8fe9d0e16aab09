// geo-ip as algorithm: picks the member nearest to the client's place on the globe.
import * as alikeMemo from '#routing/chain/scope-cache.ts'
import type { Chain } from '#routing/chain/chain.ts'
import { takeTurns } from './round-robin.ts'
import { rowOfClient, valueOfRow } from '#routing/chain/lookup-client.ts'
import {
  isInOrder,
  isInOrderInBox,
  isNearestInBox,
  nearest,
  createPlaceBoxes,
  sortByDistance,
} from '#routing/geo/places.ts'
import { LikenessKind, needAlike } from '#routing/chain/scope.ts'
import type { Likeness } from '#routing/chain/scope.ts'
import type { Way } from '#routing/choose/way.ts'

// Local constants are faster than imports: see answer/answer.ts.
const { Verdict } = alikeMemo

export const geoIpDistance: Way = {
  name: 'geo-ip',
  aliases: ['geoip'],
  usedAs: ['algorithm'],
  kind: 'selecting',
  leaves: 'all',
  picksAny: false,
  needs: ['locations'],
  likeness: [LikenessKind.Nearest, LikenessKind.Distances],
  page: {
    does: 'takes the nearest on the globe; members without a place last; unknown clients: in turn',
    settings: '`geoip.endpointLocations`',
    scope: 'the network of the database',
  },
  bind({ geo }) {
    const { location } = geo
    if (location === null) return takeTurns
    const { ranges } = location
    const boxes = createPlaceBoxes(location)
    const isUnknown = (chain: Chain): boolean => chain.picked < 0
    const toOne: Likeness = {
      kind: LikenessKind.Nearest,
      isAlike: (chain, value) =>
        value === 0 || isUnknown(chain)
          ? value === 0 && isUnknown(chain)
          : nearest(chain, location, value) === chain.picked,
      ofGroup: (chain, group) =>
        isUnknown(chain) ? Verdict.Other : isNearestInBox(chain, boxes, group, chain.picked),
    }
    // With several addresses in a reply their order matters.
    const inOrder: Likeness = {
      kind: LikenessKind.Distances,
      isAlike: (chain, value) => value !== 0 && isInOrder(chain, location, value),
      ofGroup: (chain, group) => isInOrderInBox(chain, boxes, group),
    }
    return (chain) => {
      const row = rowOfClient(ranges, chain)
      const place = valueOfRow(ranges, chain, row)
      if (place === 0 || chain.answerCount === 1) {
        chain.picked = place === 0 ? -1 : nearest(chain, location, place)
        needAlike(chain, ranges, row, toOne)
      }
      if (place === 0) return takeTurns(chain)
      sortByDistance(chain, location, place)
      if (chain.answerCount > 1) {
        chain.picked = 0
        needAlike(chain, ranges, row, inOrder)
      }
    }
  },
}
