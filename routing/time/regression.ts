// Detects harm done by a rollout: the regression policy, and the measurements that it judges.
import type { Bundle } from '#bundle/format/bundle.ts'
import { rowsOfMember } from '#bundle/format/hostnames.ts'
import type { RegressionPolicyModel } from '#bundle/format/model.ts'
import type { Rollout } from '#bundle/format/overlays.ts'
import { readyMembers } from '#routing/state/candidates.ts'
import { MemberOut } from '#routing/state/state.ts'
import type { RoutingState } from '#routing/state/state.ts'

/** Measurements of one node; null: not measured. */
interface RolloutObservation {
  /** The member's own score, 0 to 1. */
  readonly score: number | null
  /** Members of the pool that are enabled, healthy and held out by nothing. */
  readonly healthyMembers: number | null
  readonly rttMs: number | null
  /** The round trip time when the rollout began. */
  readonly baselineRttMs: number | null
}

/** @returns the regression as a sentence; undefined: none */
export function regressionOf(
  policy: RegressionPolicyModel,
  { score, healthyMembers, rttMs, baselineRttMs }: RolloutObservation,
): string | undefined {
  const { minHealthScore, minHealthyMembers, maxRttDeltaMs } = policy
  if (minHealthScore > 0 && score !== null && score < minHealthScore) {
    return `the health score of the member is ${rounded(score)}, below ${minHealthScore}`
  }
  if (minHealthyMembers > 0 && healthyMembers !== null && healthyMembers < minHealthyMembers) {
    return `the pool has ${healthyMembers} healthy members, fewer than ${minHealthyMembers}`
  }
  if (maxRttDeltaMs === 0 || rttMs === null || baselineRttMs === null) return undefined
  if (rttMs - baselineRttMs <= maxRttDeltaMs) return undefined
  return (
    `the round trip to the member takes ${rounded(rttMs)} ms, more than ${maxRttDeltaMs} ms ` +
    `above the ${rounded(baselineRttMs)} ms of the start`
  )
}

function rounded(value: number): number {
  return Math.round(value * 100) / 100
}

/** @param isProbed false: this node runs no probes and knows nothing of health */
export function observe(
  bundle: Bundle,
  state: RoutingState,
  { pool, member, regressionPolicy }: Rollout,
  isProbed: boolean,
  baselineRttMs: number | null,
): RolloutObservation {
  // A host name's RTT is the mean over its addresses.
  const rows = rowsOfMember(bundle, member)
  const rttMs = mean(rows.flatMap((row) => state.memberRttMs[row]! || []))
  const isMeasured = isProbed && bundle.poolHealthCheck[pool] !== 0
  if (!isMeasured) return { score: null, healthyMembers: null, rttMs: null, baselineRttMs }
  const isCounted = regressionPolicy.minHealthyMembers > 0
  const healthyMembers = isCounted ? readyMembers(bundle, state, pool) : null
  // A score of 1 also means "scoring is off"; neither falls below any limit.
  const isFilled = (row: number): boolean => (state.memberOut[row]! & MemberOut.Unresolved) === 0
  const score = mean(rows.filter(isFilled).map((row) => state.memberScore[row]!))
  return { score, healthyMembers, rttMs, baselineRttMs }
}

function mean(values: readonly number[]): number | null {
  if (values.length === 0) return null
  return values.reduce((sum, value) => sum + value, 0) / values.length
}
