// Defines a member as the main thread knows it from the worker's reports.
import { assert } from '#lib/assert.ts'
import type { VerdictOwner } from '#state/ports/health-verdicts.ts'
import type { Knowledge } from '#health/verdict/member-track.ts'
import type { FollowedHealth } from './member-health.ts'
import type { Measure } from '#health/thread/messages.ts'

export interface Known extends VerdictOwner {
  /** False: other nodes probe it. */
  isProbed: boolean
  pool: string
  healthy: boolean
  score: number
  rttMs: number
  isWarming: boolean
  warmupPasses: number
  knowledge: Knowledge
  /** Why it is unhealthy. */
  reason: string
  /** Time of the last change of its verdict, Unix epoch; 0: it has none yet. */
  sinceMs: number
  /** Index among the probed members; -1: it is not probed. */
  place: number
  checkKey: string
  intervalMs: number
  warmupThreshold: number
  /** Target set since which it is probed; older results belong to an earlier period. */
  sinceGeneration: number
}

/** The state before anything is known. */
export function blank({ memberUid, ipAddress }: VerdictOwner, sinceGeneration: number): Known {
  return {
    memberUid,
    ipAddress,
    isProbed: true,
    pool: '',
    healthy: true,
    score: 1,
    rttMs: 0,
    isWarming: false,
    warmupPasses: 0,
    knowledge: 'unknown',
    reason: '',
    sinceMs: 0,
    place: -1,
    checkKey: '',
    intervalMs: 0,
    warmupThreshold: 0,
    sinceGeneration,
  }
}

/** Drops measurements of another check; the verdict stays. */
export function forgetCounts(known: Known): void {
  known.rttMs = 0
  known.warmupPasses = 0
}

/** Begins or ends its probes; what was found stays, and ages. */
export function handOver(known: Known, isProbed: boolean, generation: number): void {
  assert(known.isProbed !== isProbed, 'probes of a member begin or end')
  known.isProbed = isProbed
  known.sinceGeneration = generation
  known.warmupPasses = 0
  known.rttMs = 0
  if (known.knowledge === 'known') known.knowledge = 'stale'
}

/**
 * Takes the verdict of others for a member that this node does not probe, in case theirs gets lost.
 *
 * @returns whether its health, or its gate, changed
 */
export function follow(
  known: Known,
  { healthy, score, isWarming, reason, sinceMs }: FollowedHealth,
): { readonly isOther: boolean; readonly isOtherGate: boolean } {
  assert(!known.isProbed, 'the word of others counts for members that are not probed here')
  const isOther = known.healthy !== healthy
  const isOtherGate = known.isWarming !== isWarming
  Object.assign(known, { healthy, score, isWarming, reason, sinceMs } satisfies Partial<Known>)
  return { isOther, isOtherGate }
}

/** @returns true when the member has passed its gate */
export function adopt(known: Known, measure: Measure, nowMs: number): boolean {
  assert(known.isProbed, 'a measure is that of a member that is probed here')
  if (measure.knowledge === 'known' && known.sinceMs === 0) known.sinceMs = nowMs
  // A new check has no reason yet for what the earlier one found.
  if (measure.reason !== '' && !known.healthy) known.reason = measure.reason
  const wasWarming = known.isWarming
  known.score = measure.score
  // A new worker counts anew: until it has enough, the last mean stays.
  if (measure.rttMs > 0) known.rttMs = measure.rttMs
  known.warmupPasses = measure.warmupPasses
  known.knowledge = measure.knowledge
  known.isWarming = wasWarming && measure.isWarming
  return wasWarming && !known.isWarming
}
