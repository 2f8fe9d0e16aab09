// The port by which nodes report their state, and ask each other to restart.
import type { StoreCall } from './store-result.ts'

/** The report of a node about itself. */
export interface ClusterNode {
  readonly name: string
  /** Version of the program. */
  readonly version: string
  /** Unix epoch. */
  readonly startedAtMs: number
  /** Time of the report by the node's clock, Unix epoch. */
  readonly atMs: number
  /** Commit that it serves; null: none yet. */
  readonly commit: string | null
  /** Digest of its bundle. */
  readonly digest: string | null
  readonly seq: number
  /** Time at which its channel record was issued, Unix epoch; null: there is none. */
  readonly issuedAtMs: number | null
  /** CPU time over wall time of its busiest DNS thread, 0 to 1. */
  readonly busyRatio: number
  /** DNS queries since it started. */
  readonly queries: number
  /** false: it has no DNS port, so load and queries mean nothing. Left out: it has one. */
  readonly answersDns?: boolean
  readonly status: 'ok' | 'degraded' | 'starting'
  /** Codes of problems that need a person. */
  readonly reasons: readonly string[]
  /** Enabled members, in its own view. */
  readonly members: {
    readonly healthy: number
    readonly unhealthy: number
    readonly warming: number
    /** Members that count as healthy without probes. Left out by older versions. */
    readonly unprobed?: number
    /** Members without an address. Left out by older versions. */
    readonly unresolved?: number
  }
  /** A supervisor restarts it when it ends. */
  readonly isSupervised: boolean
}

/** @returns null when it will restart, else a sentence why it cannot */
export type TakeRestart = () => string | null

export interface ClusterNodes {
  readonly announce: (node: ClusterNode) => StoreCall<void>
  /** Withdraws the node: it stops. */
  readonly leave: (name: string) => StoreCall<void>
  /** Nodes announced and not withdrawn, unordered. */
  readonly list: () => StoreCall<readonly ClusterNode[]>
  /**
   * Asks a node to restart.
   *
   * @returns null, or its sentence why not; undefined: no answer in time
   */
  readonly askRestart: (name: string) => StoreCall<string | null | undefined>
  /** `take` is called when another node asks for a restart. */
  readonly onRestart: (name: string, take: TakeRestart) => () => void
}

export const clusterNodeLimits = {
  /** Silence after which a node is missing. */
  missingMs: 20_000,
  /** Silence after which a node is forgotten. */
  forgottenMs: 24 * 3_600_000,
  nodesMax: 1_000,
  restartAnswerMs: 3_000,
} as const
