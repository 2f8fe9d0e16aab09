// One member as the main thread knows it from the worker's reports.
import type { VerdictOwner } from '#state/ports/health-verdicts.ts'
import type { Knowledge } from '#runtime/health/verdict/member-track.ts'
import type { Measure } from '#runtime/health/thread/messages.ts'

export interface Known extends VerdictOwner {
  pool: string
  healthy: boolean
  score: number
  rttMs: number
  isWarming: boolean
  warmupPasses: number
  knowledge: Knowledge
  /** Why it is unhealthy. */
  reason: string
  /** When its verdict became what it is, Unix epoch; 0: it has none yet. */
  sinceMs: number
  /** In the target set; -1: in none. */
  place: number
  checkKey: string
  intervalMs: number
  warmupThreshold: number
  /** Target set in which the member first appeared; older results speak of a former life. */
  readonly sinceGeneration: number
}

/** As it is before anything is known. */
export function blank({ memberUid, ipAddress }: VerdictOwner, sinceGeneration: number): Known {
  return {
    memberUid,
    ipAddress,
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

/** What was measured by another check: the verdict stays, the rest is counted anew. */
export function forgetCounts(known: Known): void {
  known.rttMs = 0
  known.warmupPasses = 0
}

/** @returns true when the member has passed its gate */
export function adopt(known: Known, measure: Measure, nowMs: number): boolean {
  if (measure.knowledge === 'known' && known.sinceMs === 0) known.sinceMs = nowMs
  // A check that is new has no word yet for what another one found.
  if (measure.reason !== '' && !known.healthy) known.reason = measure.reason
  const wasWarming = known.isWarming
  known.score = measure.score
  // A worker that was replaced begins to count anew: until it has enough, the last mean stands.
  if (measure.rttMs > 0) known.rttMs = measure.rttMs
  known.warmupPasses = measure.warmupPasses
  known.knowledge = measure.knowledge
  known.isWarming = wasWarming && measure.isWarming
  return wasWarming && !known.isWarming
}
