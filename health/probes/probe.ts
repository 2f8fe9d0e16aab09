// Defines the interface of a probe: one attempt against one member, reported once, in bounded time.
import type { HealthCheckModel } from '#bundle/format/model.ts'

/** A member of a pool with a health check. */
export interface ProbeTarget {
  readonly memberUid: string
  readonly ipAddress: string
  readonly check: HealthCheckModel
  /** Equal for equal checks: a swap then leaves the schedule alone. */
  readonly checkKey: string
  /** Name of its pool, for the log. */
  readonly pool: string
}

/** The key of a verdict: a member that moves to another address starts anew. */
export function targetKey(memberUid: string, ipAddress: string): string {
  return `${memberUid} ${ipAddress}`
}

/** `local-error`: this node could not probe (no descriptor, port or CPU); no verdict. */
export const outcomes = ['success', 'failure', 'timeout', 'local-error'] as const
export type Outcome = (typeof outcomes)[number]

export interface ProbeResult {
  readonly outcome: Outcome
  /** Round trip of the TCP handshake, or mean of the echo replies; 0: neither was measured. */
  readonly rttMs: number
  /** For people, such as `HTTP 503, expected 200`. Holds no octets of the backend's. */
  readonly reason: string
}

export type Report = (result: ProbeResult) => void

/** Ends an attempt without a report. Does nothing after its report. */
export type Cancel = () => void

export interface Probe {
  /** `report` is called once, at most `timeoutMs` later, and never before `run` returns. */
  readonly run: (target: ProbeTarget, report: Report) => Cancel
}
