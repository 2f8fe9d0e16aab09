// Explains a service's answers: its members, what excludes each, and the shares of the rest.
import { addressOfMember, textOf } from '#bundle/format/bundle.ts'
import type { Bundle } from '#bundle/format/bundle.ts'
import { MemberFlag } from '#bundle/format/cells.ts'
import { isResolved, rowsOfMember } from '#bundle/format/hostnames.ts'
import { Random } from '#lib/random.ts'
import { isBelowMinHealthy, membersOf } from '#routing/state/candidates.ts'
import { addressNow } from '#routing/state/slots.ts'
import { MemberOut } from '#routing/state/state.ts'
import type { RoutingState } from '#routing/state/state.ts'
import { Family } from '#routing/state/query.ts'
import type { RoutingQuery } from '#routing/state/query.ts'
import type { PlainWay } from './way.ts'

/** The first reason that excludes a member; `candidate` when there is none. */
export type MemberStanding =
  | 'candidate'
  | 'disabled'
  | 'unresolved'
  | 'unhealthy'
  | 'warming'
  | 'maintenance'
  | 'weight-0'
  | 'below-min-healthy'

export interface ExplainedMember {
  readonly index: number
  readonly name: string
  readonly ipAddress: string
  /** The declared region; empty when there is none. */
  readonly region: string
  /** The weight in effect. */
  readonly weight: number
  readonly priority: number
  /** 0 to 1; less than 1 when the member is unhealthy. */
  readonly score: number
  /** 0: too few measurements. */
  readonly rttMs: number
  readonly standing: MemberStanding
}

/**
 * Explains the members of a pool that have an address of `family`, in the order of the file.
 *
 * @param isWeighted whether the service divides its answers by weight
 */
export function explainPool(
  bundle: Bundle,
  state: RoutingState,
  pool: number,
  family: Family,
  isWeighted: boolean,
): readonly ExplainedMember[] {
  const firstV6 = bundle.poolMemberStart[pool]! + bundle.poolCount4[pool]!
  const members = [...membersOf(bundle, pool)]
  return members
    .filter((member) => member < firstV6 === (family === Family.V4))
    .filter((member) => !isSpare(bundle, state, member))
    .map((member) => ({
      index: member,
      name: textOf(bundle, bundle.memberName[member]!),
      ipAddress: addressNow(bundle, state, member),
      region: textOf(bundle, bundle.memberRegion[member]!),
      weight: state.memberWeight[member]!,
      priority: bundle.memberPriority[member]!,
      score: shownScore(state, member),
      rttMs: state.memberRttMs[member]!,
      standing: standingOf(bundle, state, member, isWeighted),
    }))
}

/** Whether a slot has no address, except the first slot of a host name without any. */
function isSpare(bundle: Bundle, state: RoutingState, member: number): boolean {
  if (!bundle.hasHostnames || !isResolved(bundle, member)) return false
  if ((state.memberOut[member]! & MemberOut.Unresolved) === 0) return false
  const slots = rowsOfMember(bundle, member)
  const half = slots.length / 2
  const own = slots.indexOf(member) < half ? slots.slice(0, half) : slots.slice(half)
  const isAnyFilled = own.some((slot) => (state.memberOut[slot]! & MemberOut.Unresolved) === 0)
  return isAnyFilled || member !== own[0]
}

/** Without scoring every member has score 1, which must not be shown for one that is down. */
function shownScore(state: RoutingState, member: number): number {
  const score = state.memberScore[member]!
  return state.memberHealthy[member] !== 1 && score === 1 ? 0 : score
}

/** Repeats the conditions of `isReady` and returns the name of the first one that fails. */
function standingOf(
  bundle: Bundle,
  state: RoutingState,
  member: number,
  isWeighted: boolean,
): MemberStanding {
  if ((bundle.memberFlags[member]! & MemberFlag.Enabled) === 0) return 'disabled'
  const out = state.memberOut[member]!
  if ((out & MemberOut.Unresolved) !== 0) return 'unresolved'
  if (state.memberHealthy[member] !== 1) return 'unhealthy'
  if ((out & MemberOut.Warming) !== 0) return 'warming'
  if (out !== 0) return 'maintenance'
  if (isWeighted && state.memberWeight[member] === 0) return 'weight-0'
  const pool = bundle.memberPool[member]!
  return isBelowMinHealthy(bundle, state, pool) ? 'below-min-healthy' : 'candidate'
}

/**
 * Runs a way's fast path `count` times from the state of a fresh start.
 *
 * @returns picks by member index; empty when there is no candidate
 */
export function drawMany(
  state: RoutingState,
  plain: PlainWay,
  query: RoutingQuery,
  seed: number,
  count: number,
): ReadonlyMap<number, number> {
  const random = new Random(seed)
  const picks = new Map<number, number>()
  for (let i = 0; i < count; i++) {
    const member = plain.select(state, query, random)
    if (member < 0) break
    picks.set(member, (picks.get(member) ?? 0) + 1)
  }
  return picks
}

/** Assumed health of a member; a missing property stays as it is. */
export interface AssumedHealth {
  readonly healthy: boolean
  /** 0 to 1. */
  readonly score?: number
  readonly rttMs?: number
}

/**
 * Returns each member's health as answers count it now: a member still warming up is not healthy.
 */
export function healthNow(bundle: Bundle, state: RoutingState): ReadonlyMap<string, AssumedHealth> {
  const found = new Map<string, AssumedHealth>()
  for (let member = 0; member < bundle.counts.members; member++) {
    const isWarm = (state.memberOut[member]! & MemberOut.Warming) === 0
    const healthy = state.memberHealthy[member] === 1 && isWarm
    const [score, rttMs] = [state.memberScore[member]!, state.memberRttMs[member]!]
    found.set(memberNames(bundle, member)[1], { healthy, score, rttMs })
  }
  return found
}

/**
 * Sets health by names: `<pool>/<address>`, or `<tenant>/<pool>/<address>` where two tenants have a
 * pool of that name. Lists are not rebuilt.
 *
 * @returns the names that match no member
 */
export function setHealth(
  bundle: Bundle,
  state: RoutingState,
  members: ReadonlyMap<string, AssumedHealth>,
): readonly string[] {
  const unused = new Set(members.keys())
  for (let member = 0; member < bundle.counts.members; member++) {
    for (const name of memberNames(bundle, member)) {
      const health = members.get(name)
      if (health === undefined) continue
      state.memberHealthy[member] = health.healthy ? 1 : 0
      if (health.score !== undefined) state.memberScore[member] = health.score
      if (health.rttMs !== undefined) state.memberRttMs[member] = health.rttMs
      unused.delete(name)
    }
  }
  return [...unused]
}

/** Returns the names by which `setHealth` knows a member. */
export function memberNames(bundle: Bundle, member: number): readonly [string, string] {
  const pool = bundle.memberPool[member]!
  const short = `${textOf(bundle, bundle.poolName[pool]!)}/${addressOfMember(bundle, member)}`
  return [short, `${textOf(bundle, bundle.poolTenant[pool]!)}/${short}`]
}
