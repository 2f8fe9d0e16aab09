// Computes distances between members and a place, and their bounds over a part of the globe.
import type { Bundle } from '#bundle/format/bundle.ts'
import * as columns from '#bundle/format/routing-cells.ts'
import * as scopeCache from '#routing/chain/scope-cache.ts'
import type { Chain } from '#routing/chain/chain.ts'
import type { LocationTable } from './geo-tables.ts'

// Local constants are faster than imports: see answer/answer.ts.
const { EndpointCell, vectorUnit } = columns
const { Verdict } = scopeCache

/** Members of unknown place sort last: no cosine is this small. */
const unknownPlace = -2 * vectorUnit
/** Far larger than rounding errors of doubles, far smaller than the distance of two places. */
const marginOfBox = 1

/** Returns the position of the candidate nearest to a place; among equals the first. */
export function nearest(chain: Chain, location: LocationTable, place: number): number {
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

/** Orders the candidates, the nearest first. */
export function sortByDistance(chain: Chain, location: LocationTable, place: number): void {
  const { members, keys, count } = chain
  for (let i = 0; i < count; i++) keys[i] = closenessOf(chain, members[i]!, location, place)
  chain.sortByKeys()
}

/** Whether the candidates in the reply would be the same, in their present order. */
export function isInOrder(chain: Chain, location: LocationTable, place: number): boolean {
  const { members, count } = chain
  for (let i = 1; i < count; i++) {
    const before = members[rivalOf(chain, i)]!
    if (isOnePlace(chain.bundle, before, members[i]!)) continue
    const closeness = closenessOf(chain, before, location, place)
    if (closeness <= closenessOf(chain, members[i]!, location, place)) return false
  }
  return true
}

/**
 * Each answered candidate competes with the one before it, all others with the last answered one.
 */
function rivalOf({ answerCount }: Chain, index: number): number {
  return Math.min(index, answerCount) - 1
}

/** Computes for each group of places the least and the most of x, y and z. */
export function createPlaceBoxes({ ranges, x, y, z }: LocationTable): Float64Array {
  const boxes = new Float64Array(ranges.groups * 6)
  for (let group = 0; group < ranges.groups; group++) {
    for (const [axis, column] of [x, y, z].entries()) {
      let [least, most] = [Infinity, -Infinity]
      for (let i = ranges.groupStart(group); i < ranges.groupStart(group + 1); i++) {
        least = Math.min(least, column[ranges.groupValue(i)]!)
        most = Math.max(most, column[ranges.groupValue(i)]!)
      }
      boxes[group * 6 + axis * 2] = least
      boxes[group * 6 + axis * 2 + 1] = most
    }
  }
  return boxes
}

/**
 * Tells whether one candidate is the nearest of all from everywhere in a box, or from nowhere in
 * it.
 */
export function isNearestInBox(
  chain: Chain,
  boxes: Float64Array,
  group: number,
  picked: number,
): scopeCache.Verdict {
  const { members, count } = chain
  let verdict: scopeCache.Verdict = Verdict.Alike
  for (let i = 0; i < count; i++) {
    if (i === picked) continue
    const one = compareInBox(chain.bundle, boxes, group * 6, members[picked]!, members[i]!)
    if (one === Verdict.Other) return one
    if (one === Verdict.Mixed) verdict = one
  }
  return verdict
}

/** Does the same as `isInOrder` for all places of a box. */
export function isInOrderInBox(
  chain: Chain,
  boxes: Float64Array,
  group: number,
): scopeCache.Verdict {
  const { members, count } = chain
  let verdict: scopeCache.Verdict = Verdict.Alike
  for (let i = 1; i < count; i++) {
    const before = members[rivalOf(chain, i)]!
    const one = compareInBox(chain.bundle, boxes, group * 6, before, members[i]!)
    if (one === Verdict.Other) return one
    if (one === Verdict.Mixed) verdict = one
  }
  return verdict
}

/**
 * Compares two candidates. Alike: the first is nearer from everywhere in the box. Other: the second
 * is.
 */
function compareInBox(
  bundle: Bundle,
  boxes: Float64Array,
  box: number,
  first: number,
  second: number,
): scopeCache.Verdict {
  if (isOnePlace(bundle, first, second)) return Verdict.Alike
  const { endpointVector, memberEndpoint } = bundle
  const one = memberEndpoint[first]! * EndpointCell.Words
  const other = memberEndpoint[second]! * EndpointCell.Words
  if (endpointVector[other + EndpointCell.IsKnown] === 0) return Verdict.Alike
  if (endpointVector[one + EndpointCell.IsKnown] === 0) return Verdict.Other
  let least = 0
  let most = 0
  for (let axis = 0; axis < 3; axis++) {
    const difference = endpointVector[one + axis]! - endpointVector[other + axis]!
    const low = difference * boxes[box + axis * 2]!
    const high = difference * boxes[box + axis * 2 + 1]!
    least += Math.min(low, high)
    most += Math.max(low, high)
  }
  if (least > marginOfBox) return Verdict.Alike
  return most < -marginOfBox ? Verdict.Other : Verdict.Mixed
}

/** Whether two members are at one place, or both at an unknown one: equally far from everywhere. */
function isOnePlace({ endpointVector, memberEndpoint }: Bundle, a: number, b: number): boolean {
  const one = memberEndpoint[a]! * EndpointCell.Words
  const other = memberEndpoint[b]! * EndpointCell.Words
  for (let word = 0; word < EndpointCell.Words; word++) {
    if (endpointVector[one + word] !== endpointVector[other + word]) return false
  }
  return true
}

/** Returns the cosine of the angle between two places, times `vectorUnit`: larger is nearer. */
function closenessOf(
  { bundle }: Chain,
  member: number,
  { x, y, z }: LocationTable,
  place: number,
): number {
  const { endpointVector } = bundle
  const at = bundle.memberEndpoint[member]! * EndpointCell.Words
  if (endpointVector[at + EndpointCell.IsKnown] === 0) return unknownPlace
  return (
    x[place]! * endpointVector[at + EndpointCell.X]! +
    y[place]! * endpointVector[at + EndpointCell.Y]! +
    z[place]! * endpointVector[at + EndpointCell.Z]!
  )
}
