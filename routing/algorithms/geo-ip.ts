// geo-ip: the member whose place on the globe is nearest to the client's (document B).
import { EndpointCell } from '#bundle/routing-columns.ts'
import type { Chain } from '../chain.ts'
import type { LocationTable } from '../geo/geo-tables.ts'
import { takeTurns } from '../filters/round-robin.ts'
import { rowOfClient, valueOfRow } from '../lookup-client.ts'
import { needAlike } from '../scope.ts'
import type { Algorithm } from '../step.ts'

/** Members of unknown place come behind all others; no cosine is as small. */
const unknownPlace = -2

export const geoIp: Algorithm = {
  name: 'geo-ip',
  aliases: ['geoip'],
  bind({ geo }) {
    const { location } = geo
    if (location === null) return takeTurns
    const { ranges } = location
    const likeness = {
      isAlike(chain: Chain, value: number): boolean {
        if (value === 0 || chain.picked < 0) return value === 0 && chain.picked < 0
        // With several addresses in a reply their order counts, and each place has its own.
        return chain.answerCount === 1 && nearest(chain, location, value) === chain.picked
      },
    }
    return (chain) => {
      const row = rowOfClient(ranges, chain)
      const place = valueOfRow(ranges, chain, row)
      chain.picked = place === 0 ? -1 : nearest(chain, location, place)
      needAlike(chain, ranges, row, likeness)
      if (place === 0) takeTurns(chain)
      else sortByDistance(chain, location, place)
    }
  },
}

/** The position of the candidate nearest to a place; of equals the first. */
function nearest(chain: Chain, location: LocationTable, place: number): number {
  let best = 0
  let most = -Infinity
  for (let i = 0; i < chain.count; i++) {
    const closeness = closenessOf(chain, chain.members[i]!, location, place)
    if (closeness > most) {
      most = closeness
      best = i
    }
  }
  return best
}

function sortByDistance(chain: Chain, location: LocationTable, place: number): void {
  const { members, keys, count } = chain
  for (let i = 0; i < count; i++) keys[i] = closenessOf(chain, members[i]!, location, place)
  chain.sortByKeys()
}

/** The cosine of the angle between two places, times a constant: the larger the nearer. */
function closenessOf(
  { bundle }: Chain,
  member: number,
  { x, y, z }: LocationTable,
  place: number,
): number {
  const { endpointVector } = bundle
  const at = bundle.memberEndpoint[member]! * EndpointCell.Words
  if (endpointVector[at + EndpointCell.IsKnown] === 0) return unknownPlace * 2 ** 30
  return (
    x[place]! * endpointVector[at + EndpointCell.X]! +
    y[place]! * endpointVector[at + EndpointCell.Y]! +
    z[place]! * endpointVector[at + EndpointCell.Z]!
  )
}
