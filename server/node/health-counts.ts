// Counts members by their health: of a whole bundle, and by pool.
import { textOf } from '#bundle/format/bundle.ts'
import type { Bundle } from '#bundle/format/bundle.ts'
import { MemberFlag } from '#bundle/format/cells.ts'
import { membersWithSlots } from '#bundle/format/hostnames.ts'
import { madeChecks, probedPools } from '#bundle/load/probed-pools.ts'
import { MemberOut } from '#routing/state/state.ts'
import type { RoutingState } from '#routing/state/state.ts'
import type { MemberCounts, NodeMemberCounts } from '#state/ports/node-counts.ts'

interface PoolCounts extends MemberCounts {
  readonly tenant: string
  readonly pool: string
}

type Counted = { -readonly [Key in keyof MemberCounts]: number }

export const noMembers: NodeMemberCounts = Object.freeze({
  ...{ healthy: 0, unhealthy: 0, warming: 0, unprobed: 0, unresolved: 0 },
})

/** @param health which checks are made; null: none */
export function countHealth(
  bundle: Bundle,
  state: RoutingState,
  health: Parameters<typeof madeChecks>[0],
): NodeMemberCounts {
  const counts: Counted = { healthy: 0, unhealthy: 0, warming: 0 }
  const probed = probedPools(bundle, madeChecks(health))
  let unprobed = 0
  for (let member = 0; member < bundle.counts.members; member++) {
    const found = stateOf(bundle, state, member)
    if (found === undefined) continue
    counts[found]++
    if (found === 'healthy' && probed[bundle.memberPool[member]!] === 0) unprobed++
  }
  return { ...counts, unprobed, unresolved: countUnresolved(bundle, state) }
}

function countUnresolved(bundle: Bundle, state: RoutingState): number {
  let count = 0
  for (const slots of membersWithSlots(bundle)) {
    const isEnabled = (bundle.memberFlags[slots[0]!]! & MemberFlag.Enabled) !== 0
    const isOut = (slot: number): boolean => (state.memberOut[slot]! & MemberOut.Unresolved) !== 0
    if (isEnabled && slots.every(isOut)) count++
  }
  return count
}

/**
 * Counts by pool, in the order of the bundle. Members of pools beyond `poolsMax` are added up in a
 * last row without names.
 */
export function countPoolHealth(
  bundle: Bundle,
  state: RoutingState,
  poolsMax: number,
): readonly PoolCounts[] {
  const rows = Math.min(bundle.counts.pools, poolsMax)
  const isMore = bundle.counts.pools > poolsMax
  const counts: Counted[] = Array.from({ length: rows + (isMore ? 1 : 0) }, () => ({
    healthy: 0,
    unhealthy: 0,
    warming: 0,
  }))
  for (let member = 0; member < bundle.counts.members; member++) {
    const found = stateOf(bundle, state, member)
    if (found !== undefined) counts[Math.min(bundle.memberPool[member]!, rows)]![found]++
  }
  return counts.map((one, pool) => {
    const isNamed = pool < rows
    const tenant = isNamed ? textOf(bundle, bundle.poolTenant[pool]!) : ''
    return { tenant, pool: isNamed ? textOf(bundle, bundle.poolName[pool]!) : '', ...one }
  })
}

/** Rows of unhealthy members. */
export function* unhealthyMembers(bundle: Bundle, state: RoutingState): Iterable<number> {
  for (let member = 0; member < bundle.counts.members; member++) {
    if (stateOf(bundle, state, member) === 'unhealthy') yield member
  }
}

/** @returns undefined when the member does not count, because it is disabled or has no address */
function stateOf(
  bundle: Bundle,
  state: RoutingState,
  member: number,
): keyof MemberCounts | undefined {
  if ((bundle.memberFlags[member]! & MemberFlag.Enabled) === 0) return undefined
  if ((state.memberOut[member]! & MemberOut.Unresolved) !== 0) return undefined
  if (state.memberHealthy[member] !== 1) return 'unhealthy'
  return (state.memberOut[member]! & MemberOut.Warming) !== 0 ? 'warming' : 'healthy'
}
