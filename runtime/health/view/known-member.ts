// One member in the memory of the main thread: what the worker has told of it.
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
export function adopt(known: Known, measure: Measure): boolean {
  const wasWarming = known.isWarming
  known.score = measure.score
  // A worker that was replaced begins to count anew: until it has enough, the last mean stands.
  if (measure.rttMs > 0) known.rttMs = measure.rttMs
  known.warmupPasses = measure.warmupPasses
  known.knowledge = measure.knowledge
  known.isWarming = wasWarming && measure.isWarming
  return wasWarming && !known.isWarming
}
