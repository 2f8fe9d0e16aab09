// Divides the weight of a host name among its addresses: four of them weigh as much as one member.
import type { Bundle } from '#bundle/format/bundle.ts'
import { hostnameOfSlot, isDiscovered, isResolved, partsAround } from '#bundle/format/hostnames.ts'
import { bundleLimits } from '#bundle/format/limits.ts'
import { MemberOut } from './state.ts'
import type { RoutingState } from './state.ts'

/** Divisible by every number of addresses up to `slotsPerHostname`. */
const finest = 840
/** Where addresses have weights of their own. */
const finestOfDiscovered = finest * 1_000
const sumMax = 0xffff_ffff

/** Writes `memberShare` of a pool. */
export function shareWeights(bundle: Bundle, state: RoutingState, pool: number): void {
  const { memberShare, memberWeight } = state
  // Bundles without resolved host names have no column of their own.
  if (memberShare === memberWeight) return
  const start = bundle.poolMemberStart[pool]!
  const count4 = bundle.poolCount4[pool]!
  const count6 = bundle.poolCount6[pool]!
  shareFamily(bundle, state, start, start + count4)
  shareFamily(bundle, state, start + count4, start + count4 + count6)
}

function shareFamily(bundle: Bundle, state: RoutingState, start: number, end: number): void {
  const { memberShare, memberWeight } = state
  let sum = 0
  let hostnames = 0
  let most = finest
  for (let row = start; row < end; row = endOfMember(bundle, row)) {
    if (isResolved(bundle, row)) hostnames++
    if (isDiscoveredSlot(bundle, row)) {
      most = finestOfDiscovered
      sum += bundle.memberWeight[row]!
    } else sum += memberWeight[row]!
  }
  // The sum must stay inside 32 bits, with what rounding up adds.
  const scale = Math.max(1, Math.min(most, Math.floor((sumMax - (end - start)) / (sum || 1))))
  for (let row = start; row < end; row = endOfMember(bundle, row)) {
    if (hostnames === 0 || !isResolved(bundle, row)) {
      memberShare[row] = memberWeight[row]! * (hostnames === 0 ? 1 : scale)
      continue
    }
    const last = endOfMember(bundle, row)
    if (isDiscoveredSlot(bundle, row)) {
      shareDiscovered(bundle, state, row, last, scale)
      continue
    }
    let filled = 0
    for (let slot = row; slot < last; slot++) if (isFilled(state, slot)) filled++
    const part = Math.floor((memberWeight[row]! * scale) / (filled || 1))
    const share = memberWeight[row] === 0 ? 0 : Math.max(1, part)
    for (let slot = row; slot < last; slot++) memberShare[slot] = isFilled(state, slot) ? share : 0
  }
}

function isDiscoveredSlot(bundle: Bundle, row: number): boolean {
  return isResolved(bundle, row) && isDiscovered(bundle, hostnameOfSlot(bundle, row))
}

/** Each address has its own weight; together they weigh as the member does. */
function shareDiscovered(
  bundle: Bundle,
  state: RoutingState,
  start: number,
  end: number,
  scale: number,
): void {
  const { memberShare, memberWeight } = state
  const whole = bundle.memberWeight[start]! * scale
  let sum = 0
  for (let slot = start; slot < end; slot++) if (isFilled(state, slot)) sum += memberWeight[slot]!
  for (let slot = start; slot < end; slot++) {
    const part = Math.floor((whole * memberWeight[slot]!) / (sum || 1))
    const isCounted = isFilled(state, slot) && whole > 0 && memberWeight[slot]! > 0
    memberShare[slot] = isCounted ? Math.max(1, part) : 0
  }
}

function isFilled(state: RoutingState, slot: number): boolean {
  return (state.memberOut[slot]! & MemberOut.Unresolved) === 0
}

/** The row after the rows of the member that begins at `row`. */
function endOfMember(bundle: Bundle, row: number): number {
  if (!isResolved(bundle, row)) return row + 1
  const hostname = hostnameOfSlot(bundle, row)
  const { first, count } = partsAround(bundle, hostname)
  // Slots of a family stand side by side, as many in each part.
  return row + (first + count - hostname) * bundleLimits.slotsPerHostname
}
