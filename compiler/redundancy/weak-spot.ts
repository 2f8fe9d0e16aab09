// Computes what is left of a pool and its fallback after the failure of one unit.
import type { Member } from '#schemas/objects/member.ts'
import type { Entry } from '#compiler/tree/tree.ts'
import { endpointOf, failureUnits, unitLabel } from './failure-units.ts'
import type { FailureUnit } from './failure-units.ts'
import type { AddressFamily } from '#compiler/values/member-target.ts'
import { countedOf } from './pool-demand.ts'
import type { PoolDemand } from './pool-demand.ts'

/** Without probes no member is ever down; and `asksAll` answers members that are down. */
export const canFail = ({ pool, asksAll }: PoolDemand): boolean =>
  pool.object.spec.healthCheck !== undefined && !asksAll

/** @returns in words, the smallest unit whose failure leaves no member; undefined: none */
export function weakSpotOf(demand: PoolDemand, family: AddressFamily): string | undefined {
  const { pool, fallback, isWeighted } = demand
  const known = pool.derived.weakSpot
  if (known?.isWeighted === isWeighted && known.fallback === fallback) return known.found
  const found = sought(demand, family)
  pool.derived.weakSpot = { isWeighted, fallback, found }
  return found
}

function sought(demand: PoolDemand, family: AddressFamily): string | undefined {
  const { pool, fallback } = demand
  const counted = countedOf(pool, demand, family)
  if (isEmpty(pool, counted)) return undefined
  for (const unit of failureUnits) {
    const key = weakKeyOf(pool, counted, unit)
    if (key === undefined) continue
    if (fallback === undefined) return unitLabel(unit, key)
    const left = countedOf(fallback, demand, family).filter((one) => unit.keyOf(one) !== key)
    if (isEmpty(fallback, left, unit, key)) return unitLabel(unit, key)
  }
  return undefined
}

/** Whether no member is left when the whole pool fails: no fallback helps. */
export function needsPool(demand: PoolDemand, family: AddressFamily): boolean {
  const { pool, fallback } = demand
  if (isEmpty(pool, countedOf(pool, demand, family))) return false
  if (fallback === undefined) return true
  const down = new Set(pool.object.spec.members.map(endpointOf))
  const isUp = (member: Member): boolean => !down.has(endpointOf(member))
  const { members, minHealthy } = fallback.object.spec
  const left = countedOf(fallback, demand, family).filter(isUp)
  return left.length === 0 || members.filter((one) => one.enabled && isUp(one)).length < minHealthy
}

/**
 * @param left filter of members that can be answered
 * @param key members with it are down
 */
function isEmpty(
  { object: { spec } }: Entry<'Pool'>,
  left: readonly Member[],
  unit?: FailureUnit,
  key?: string,
): boolean {
  if (left.length === 0) return true
  if (spec.minHealthy <= 1) return false
  const isUp = (member: Member): boolean => member.enabled && unit?.keyOf(member) !== key
  const up = unit === undefined ? (one: Member) => one.enabled : isUp
  return spec.members.filter(up).length < spec.minHealthy
}

/** @returns the first key whose members leave none or too few; undefined: none */
function weakKeyOf(
  { object: { spec } }: Entry<'Pool'>,
  counted: readonly Member[],
  { keyOf }: FailureUnit,
): string | undefined {
  const first = keyOf(counted[0]!)
  if (first !== '' && counted.every((member) => keyOf(member) === first)) return first
  if (spec.minHealthy <= 1) return undefined
  const enabled = spec.members.filter((member) => member.enabled)
  const counts = new Map<string, number>()
  for (const member of enabled) {
    const key = keyOf(member)
    if (key !== '') counts.set(key, (counts.get(key) ?? 0) + 1)
  }
  return [...counts].find(([, count]) => enabled.length - count < spec.minHealthy)?.[0]
}
