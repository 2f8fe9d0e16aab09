// Defines the messages between the main thread and the health worker.
import type { ProbeTypeName } from '#probes/probe-types.ts'
import type { Knowledge } from '#health/verdict/member-track.ts'
import type { Outcome, ProbeTarget } from '#health/probes/probe.ts'

export interface MonitoredTarget extends ProbeTarget {
  /** Probes in a row that must pass before a new member is used; 0: no gate. */
  readonly warmupThreshold: number
}

/** Measurements of a member; sent again when any of them changed. */
export interface Measure {
  readonly memberUid: string
  readonly ipAddress: string
  /** 0 to 1; 1 while scoring is off. */
  readonly score: number
  /** Mean of the last probes; 0: there were too few. */
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
  /** TCP handshake of the deciding probe; 0: there was none. */
  readonly rttMs: number
  /** Such as `connection refused` or `HTTP 503, expected 200`; empty when healthy. */
  readonly reason: string
  /** Unix epoch. */
  readonly atMs: number
}

export type ProbeCounts = Record<ProbeTypeName, Record<Outcome, number>>

/** Counters since the worker started. */
export interface ProberStats {
  readonly targets: number
  readonly inFlight: number
  /** Probes that began later than they were due by more than the limit. */
  readonly late: number
  readonly probes: ProbeCounts
}

/** The targets, and what the worker must know of them. */
export interface TargetSet {
  /** Number of the target set in one monitor; results name the set that they refer to. */
  readonly generation: number
  /** All targets: the worker stops probing those that are missing. */
  readonly targets: readonly MonitoredTarget[]
  /** Keys (`targetKey`) of targets that are unhealthy to a worker that does not know them. */
  readonly unhealthyKeys: readonly string[]
  /**
   * Keys of targets that are warming up, with a counter of 0, to a worker that does not know them.
   */
  readonly warmingKeys: readonly string[]
  /** A mean round-trip time that moves by less is not reported. */
  readonly rttThresholdMs: number
  /** Cells of `LastProbe` for each target: messages would be one for each probe. */
  readonly lastProbes: SharedArrayBuffer
}

/** Doubles of one target. */
export const LastProbe = {
  /** End of the last probe, Unix epoch; 0: there was none. */
  AtMs: 0,
  /** The last measured round trip; 0: none was. */
  RttMs: 1,
  Cells: 2,
} as const

export function lastProbesFor(targetCount: number): SharedArrayBuffer {
  return new SharedArrayBuffer(Float64Array.BYTES_PER_ELEMENT * LastProbe.Cells * targetCount)
}

export type ToWorker = (TargetSet & { readonly kind: 'targets' }) | { readonly kind: 'stop' }

export interface ResultsMessage {
  readonly kind: 'results'
  /** The newest target set that had arrived before these results. */
  readonly generation: number
  readonly changes: readonly VerdictChange[]
  /** First results after a check was replaced: unchanged, but to be stored again. */
  readonly confirmed: readonly VerdictChange[]
  /** At most one for each member. */
  readonly measures: readonly Measure[]
  readonly stats: ProberStats
}
