// Notes the effects of a single failure: names without an answer, overloaded members.
import { failureUnits, unitLabel } from '#compiler/redundancy/failure-units.ts'
import type { FailureUnit } from '#compiler/redundancy/failure-units.ts'
import {
  capacityDefault,
  countedOf,
  demandLabel,
  familiesOf,
  neededFamilyOf,
  poolDemands,
} from '#compiler/redundancy/pool-demand.ts'
import { canFail, weakSpotOf, needsPool } from '#compiler/redundancy/weak-spot.ts'
import { valueIn } from '#compiler/tree/tree.ts'
import type { TreeReport } from '#compiler/tree/tree.ts'
import { targetOf } from '#compiler/values/member-target.ts'
import type { Way } from '#routing/choose/way.ts'
import type { Member } from '#schemas/objects/member.ts'
import type { TreeRule } from './tree-rule.ts'
import type { AddressFamily } from '#compiler/values/member-target.ts'
import type { PoolDemand } from '#compiler/redundancy/pool-demand.ts'
import type { Observe } from '#compiler/tree/observe.ts'

/** Notes names without an answer after one failure. */
export const weakSpots: TreeRule = ({ tree }, report) => {
  for (const demand of poolDemands(tree)) {
    if (!canFail(demand)) continue
    const family = neededFamilyOf(demand.pool)
    const weak = weakSpotOf(demand, family)
    if (weak !== undefined) reportWeakSpot(demand, weak, family, report)
  }
}

/** Finds members with more clients than they bear, when all are up or after one failure. */
export const memberCapacity: TreeRule = ({ tree }, report) => {
  for (const demand of poolDemands(tree)) {
    const { pool } = demand
    const { members, healthCheck } = pool.object.spec
    const sharing = sharingOf(demand.ways)
    const limited = members.findIndex(({ capacity }) => capacity < capacityDefault)
    if (limited < 0 || sharing === undefined) continue
    const units = healthCheck === undefined ? [] : failureUnits
    const overs = familiesOf(pool).flatMap((family) => {
      const asked = countedOf(pool, demand, family)
      return [...overAlways(asked, sharing), ...overAfter(asked, sharing, units)]
    })
    const reported = new Set<Member>()
    for (const { member, share, when } of overs) {
      if (reported.has(member)) continue
      reported.add(member)
      const path = ['spec', 'members', members.indexOf(member), 'capacity'] as const
      const percent = String(Math.round(share * 10) / 10)
      const args = [when, targetOf(member), percent, demandLabel(demand), String(member.capacity)]
      report('member-over-capacity', valueIn(pool, ...path), { args })
    }
  }
}

/** The share of clients that a way gives a member, where it does not depend on the client. */
type Sharing = (member: Member) => number

/** By priority; 0 is unset and comes last. */
const inOrder = 'in-order'

function sharingOf(ways: readonly Way[]): Sharing | typeof inOrder | undefined {
  const [way, ...others] = ways
  if (way === undefined || others.length > 0) return undefined
  if (way.name === 'round-robin') return () => 1
  if (way.name === 'weighted-round-robin') return ({ weight }) => weight
  return way.name === 'failover' ? inOrder : undefined
}

interface Over {
  readonly member: Member
  /** Percent of the pool's clients. */
  readonly share: number
  readonly when: string
}

const isOver = ({ member, share }: Over): boolean => share > member.capacity + 1e-9

function overAlways(
  members: readonly Member[],
  sharing: Sharing | typeof inOrder,
): readonly Over[] {
  const when = 'with all members up'
  if (sharing === inOrder) {
    const [first] = ranked(members)
    return first === undefined ? [] : [{ member: first, share: 100, when }].filter(isOver)
  }
  const all = members.reduce((sum, member) => sum + sharing(member), 0)
  return members
    .map((member) => ({ member, share: (sharing(member) / all) * 100, when }))
    .filter(isOver)
}

function overAfter(
  members: readonly Member[],
  sharing: Sharing | typeof inOrder,
  units: readonly FailureUnit[],
): readonly Over[] {
  const after = sharing === inOrder ? nextInOrder : mostOfRest(sharing)
  return units.flatMap((unit) => after(members, unit)).filter(isOver)
}

/** When the first member's unit fails, the next member gets all clients. */
function nextInOrder(members: readonly Member[], unit: FailureUnit): readonly Over[] {
  const [first, ...others] = ranked(members)
  const key = first === undefined ? '' : unit.keyOf(first)
  const next = others.find((member) => unit.keyOf(member) !== key)
  if (key === '' || next === undefined) return []
  return [{ member: next, share: 100, when: `when ${unitLabel(unit, key)} is down` }]
}

/** Each member gets most when the heaviest of the others are down. */
function mostOfRest(sharing: Sharing) {
  return (members: readonly Member[], unit: FailureUnit): readonly Over[] => {
    let all = 0
    const byKey = new Map<string, number>()
    for (const member of members) {
      all += sharing(member)
      const key = unit.keyOf(member)
      if (key !== '') byKey.set(key, (byKey.get(key) ?? 0) + sharing(member))
    }
    const heaviest = twoHeaviest(byKey)
    return members.flatMap((member) => {
      if (member.capacity === capacityDefault) return []
      const down = heaviest.find(([key]) => key !== unit.keyOf(member))
      if (down === undefined) return []
      const [key, gone] = down
      const share = (sharing(member) / (all - gone)) * 100
      return [{ member, share, when: `when ${unitLabel(unit, key)} is down` }]
    })
  }
}

function twoHeaviest(weights: ReadonlyMap<string, number>): readonly (readonly [string, number])[] {
  let [first, second]: (readonly [string, number])[] = []
  for (const one of weights) {
    if (first === undefined || one[1] > first[1]) [second, first] = [first, one]
    else if (second === undefined || one[1] > second[1]) second = one
  }
  return [first, second].filter((one) => one !== undefined)
}

function ranked(members: readonly Member[]): readonly Member[] {
  const rank = ({ priority }: Member): number => (priority === 0 ? Infinity : priority)
  return members.toSorted((one, other) =>
    rank(one) < rank(other) ? -1 : rank(one) > rank(other) ? 1 : 0,
  )
}

/**
 * Notes names without an answer when a whole pool is down, on request only: most names have no
 * fallback, and the note would be noise.
 */
export const notePoolOutages: Observe = (tree, report) => {
  for (const demand of poolDemands(tree)) {
    if (!canFail(demand)) continue
    const { pool } = demand
    const family = neededFamilyOf(pool)
    // A smaller failure with this effect was noted already.
    const isNoted = weakSpotOf(demand, family) !== undefined
    if (isNoted || !needsPool(demand, family)) continue
    reportWeakSpot(demand, `the pool "${pool.object.metadata.name}"`, family, report)
  }
}

/** @param weak the failing unit in words */
function reportWeakSpot(
  demand: PoolDemand,
  weak: string,
  { noun }: AddressFamily,
  report: TreeReport,
): void {
  const other = valueIn(demand.pool, 'spec', 'members')
  const args = [weak, demandLabel(demand), noun]
  report('weak-spot', valueIn(demand.service, 'spec', 'pool'), { args, other })
}
