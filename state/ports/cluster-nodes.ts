// The port by which nodes say how they are, and ask each other for a restart.
import type { StoreCall } from './store-result.ts'

/** What a node says of itself. */
export interface ClusterNode {
  readonly name: string
  /** Version of the program. */
  readonly version: string
  /** Unix epoch. */
  readonly startedAtMs: number
  /** When it said this, Unix epoch, of its clock. */
  readonly atMs: number
  /** It answers from this; null: from nothing yet. */
  readonly commit: string | null
  /** Digest of the bundle. */
  readonly digest: string | null
  readonly seq: number
  /** When its channel record was issued, Unix epoch; null: there is none. */
  readonly issuedAtMs: number | null
  /** CPU time over wall time of its busiest DNS thread, 0 to 1. */
  readonly busyRatio: number
  /** DNS queries since it started. */
  readonly queries: number
  /** false: it has no DNS port, so that load and queries say nothing. Left out: it has one. */
  readonly answersDns?: boolean
  readonly status: 'ok' | 'degraded' | 'starting'
  /** Codes of what needs a person. */
  readonly reasons: readonly string[]
  /** Enabled members, as its own view has them. */
  readonly members: {
    readonly healthy: number
    readonly unhealthy: number
    readonly warming: number
    /** Healthy members that nobody probes. Left out: an older version does not say. */
    readonly unprobed?: number
  }
  /** Something starts it again when it ends. */
  readonly isSupervised: boolean
}

/** @returns a sentence why it is not possible, or null: it will */
export type TakeRestart = () => string | null

export interface ClusterNodes {
  readonly announce: (node: ClusterNode) => StoreCall<void>
  /** Takes back what was announced: the node stops. */
  readonly leave: (name: string) => StoreCall<void>
  /** Nodes that announced themselves and did not leave, in no order. */
  readonly list: () => StoreCall<readonly ClusterNode[]>
  /**
   * Asks a node to start again. @returns its answer: null, or the sentence why not; undefined: none
   * came in time
   */
  readonly askRestart: (name: string) => StoreCall<string | null | undefined>
  /** `take` is called when another node asks for it. */
  readonly onRestart: (name: string, take: TakeRestart) => () => void
}

export const clusterNodeLimits = {
  /** One that was silent for so long is missing. */
  missingMs: 20_000,
  /** One that was silent for so long is forgotten. */
  forgottenMs: 24 * 3_600_000,
  nodesMax: 1_000,
  restartAnswerMs: 3_000,
} as const
