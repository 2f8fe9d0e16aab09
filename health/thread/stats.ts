// Sums the counters of health probing over restarts of the worker.
import { probeTypeNames } from '#probes/probe-types.ts'
import type { ProbeCounts, ProberStats } from './messages.ts'
import { outcomes } from '#health/probes/probe.ts'
import type { Outcome } from '#health/probes/probe.ts'

export interface HealthStats extends ProberStats {
  /** Workers that ended by themselves and were replaced. */
  readonly workerRestarts: number
}

export function zeroProbeCounts(): ProbeCounts {
  const counts = probeTypeNames.map((type) => [type, zeroCounts()])
  return Object.fromEntries(counts) as ProbeCounts
}

export const zeroStats: ProberStats = Object.freeze({
  targets: 0,
  inFlight: 0,
  late: 0,
  probes: zeroProbeCounts(),
})

/** Sums counters; gauges are those of the live worker. */
export function addStats(ended: ProberStats, living: ProberStats): ProberStats {
  const probes = zeroProbeCounts()
  for (const type of probeTypeNames) {
    for (const outcome of outcomes) {
      probes[type][outcome] = ended.probes[type][outcome] + living.probes[type][outcome]
    }
  }
  const { targets, inFlight } = living
  return { targets, inFlight, late: ended.late + living.late, probes }
}

function zeroCounts(): Record<Outcome, number> {
  return { success: 0, failure: 0, timeout: 0, 'local-error': 0 }
}
