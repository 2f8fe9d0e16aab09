// The messages between the main thread and the health worker.
import type { ProbeTypeName } from '#probes/probe-types.ts'
import type { Knowledge } from '#health/verdict/member-track.ts'
import type { Outcome, ProbeTarget } from '#health/probes/probe.ts'

export interface MonitoredTarget extends ProbeTarget {
  /** Probes in a row that must pass before a member that warms up is used; 0: no gate. */
  readonly warmupThreshold: number
}

/** A member as its probes have it; told again when any of it changed. */
export interface Measure {
  readonly memberUid: string
  readonly ipAddress: string
  /** 0 to 1; 1 while scoring is off. */
  readonly score: number
  /** Mean of the last probes; 0: too few. */
  readonly rttMs: number
  readonly isWarming: boolean
  readonly warmupPasses: number
  readonly knowledge: Knowledge
  /** Why the last failed probe failed; empty once one has passed and the member is healthy. */
  readonly reason: string
}

export interface VerdictChange {
  readonly memberUid: string
  readonly ipAddress: string
  readonly healthy: boolean
  /** TCP handshake of the probe that decided; 0 when there was none. */
  readonly rttMs: number
  /** `connection refused`, `HTTP 503, expected 200`; empty when healthy. */
  readonly reason: string
  /** Unix epoch. */
  readonly atMs: number
}

export type ProbeCounts = Record<ProbeTypeName, Record<Outcome, number>>

/** Since the worker started. */
export interface ProberStats {
  readonly targets: number
  readonly inFlight: number
  /** Probes that began later than they were due by more than the limit. */
  readonly late: number
  readonly probes: ProbeCounts
}

/** What the worker must know of its targets. */
export interface TargetSet {
  /** Counts the target sets of one monitor; results say which set they know. */
  readonly generation: number
  /** All targets: the worker stops to probe one that is missing. */
  readonly targets: readonly MonitoredTarget[]
  /** Keys (`targetKey`) of targets that a worker new to them takes as unhealthy. */
  readonly unhealthyKeys: readonly string[]
  /** Keys of targets that a worker new to them takes as warming, with the counter at 0. */
  readonly warmingKeys: readonly string[]
  /** A mean round trip time that moved by less is not told. */
  readonly rttThresholdMs: number
  /**
   * Cells of `LastProbe` for each target, which the worker writes. In a message it would be one for
   * each probe.
   */
  readonly lastProbes: SharedArrayBuffer
}

/** Doubles of one target. */
export const LastProbe = {
  /** When the last probe ended, Unix epoch; 0: none has. */
  AtMs: 0,
  /** What the last one that measured a round trip found; 0: none has. */
  RttMs: 1,
  Cells: 2,
} as const

export function lastProbesFor(targetCount: number): SharedArrayBuffer {
  return new SharedArrayBuffer(Float64Array.BYTES_PER_ELEMENT * LastProbe.Cells * targetCount)
}

export type ToWorker = (TargetSet & { readonly kind: 'targets' }) | { readonly kind: 'stop' }

export interface ResultsMessage {
  readonly kind: 'results'
  /** The newest target set that had arrived when these results came to be. */
  readonly generation: number
  readonly changes: readonly VerdictChange[]
  /** First results after a check was replaced: no change, but to be stored again. */
  readonly confirmed: readonly VerdictChange[]
  /** At most one per member. */
  readonly measures: readonly Measure[]
  readonly stats: ProberStats
}
