// The interface of a probe: one attempt against one member, reported once, in bounded time.
import type { HealthCheckModel } from '#bundle/format/model.ts'

/** One member of a pool with a health check. */
export interface ProbeTarget {
  readonly memberUid: string
  readonly ipAddress: string
  readonly check: HealthCheckModel
  /** Same text, same check: a swap then leaves the schedule alone. */
  readonly checkKey: string
  /** Name of its pool, for the log. */
  readonly pool: string
}

/** The key of a verdict: a member that moves to another address starts anew. */
export function targetKey(memberUid: string, ipAddress: string): string {
  return `${memberUid} ${ipAddress}`
}

/** `local-error`: this node could not probe (no descriptor, no port, no CPU), so no verdict. */
export const outcomes = ['success', 'failure', 'timeout', 'local-error'] as const
export type Outcome = (typeof outcomes)[number]

export interface ProbeResult {
  readonly outcome: Outcome
  /** Round trip of the TCP handshake, or the mean of the echo replies; 0 where there is neither. */
  readonly rttMs: number
  /** For people: `HTTP 503, expected 200`. Holds no bytes of the backend's. */
  readonly reason: string
}

export type Report = (result: ProbeResult) => void

/** Ends an attempt without a report. Does nothing once it has reported. */
export type Cancel = () => void

export interface Probe {
  /** `report` is called once, never before `run` returns, at most `timeoutMs` later. */
  readonly run: (target: ProbeTarget, report: Report) => Cancel
}
