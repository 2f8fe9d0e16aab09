// Defines the read-only port to the running node.
import type { StatusDiagnostic } from '#diagnostics/status-diagnostic.ts'

/** Everything that the API reads of the node; built from the parts that were started. */
export interface OperatorView {
  readonly health: () => HealthStatus
  /** Lists the reasons why the node has not been ready since its start; empty: it is ready. */
  readonly unready: () => readonly HealthReason[]
  readonly gitops: () => GitopsStatus
  /** @param accept the header of the request: it chooses the format */
  readonly metrics: (
    accept: string | undefined,
  ) => Promise<{ readonly type: string; readonly text: string }>
}

export interface HealthStatus {
  /** `starting`: there is no bundle yet. `degraded`: it answers, but needs a person. */
  readonly status: 'ok' | 'degraded' | 'starting'
  /** Empty exactly when the status is ok. */
  readonly reasons: readonly HealthReason[]
}

/** A reason that everybody may see, so without path, host or name. */
export interface HealthReason {
  /** A word for programs, such as `redis-away`. */
  readonly code: string
  /** Cause, and where to look. */
  readonly message: string
}

/** Head, accepted and active are three commits; each may be behind the one before. */
export interface GitopsStatus {
  readonly branch: string
  /** Newest commit of the remote or the local origin, in hex. null: none was seen yet. */
  readonly head: string | null
  /** Newest commit that passed signature and compiler. */
  readonly accepted: string | null
  /** Commit that the responders answer from. */
  readonly active: string | null
  readonly sync: SyncState
  /** Why `sync` is `held` or `unreachable`; null: it is neither. */
  readonly reason: StatusReason | null
  /**
   * Why a guardrail did not hold the accepted commit, namely which change it repairs; null: none
   * would have held it, or an earlier process accepted it.
   */
  readonly note: string | null
  /**
   * Diagnostics of the head, also the warnings of an accepted one, at most 100; then what the
   * accepted commit uses beyond the licence, again at most 100.
   */
  readonly diagnostics: readonly StatusDiagnostic[]
  /** When the last finished look at the branch began; null: no look has finished. */
  readonly lookedFromMs: number | null
  readonly node: NodeStatus
}

/** `held`: the head was refused, or the next one would be; the accepted commit goes on serving. */
export const syncStates = ['starting', 'synced', 'pending', 'held', 'unreachable'] as const
export type SyncState = (typeof syncStates)[number]

interface StatusReason {
  /** A word for programs, such as `Unsigned` or `HistoryRewritten`. */
  readonly code: string
  /** Cause and remedy, in a sentence. */
  readonly message: string
  /** When this began; milliseconds since the epoch. */
  readonly sinceMs: number
}

/** The bundle that this node answers from; all fields null or 0 before the first. */
interface NodeStatus {
  readonly channel: string
  readonly seq: number
  /** Serial of the bundle's SOA records. */
  readonly serial: number
  /** SHA-256 in hex. */
  readonly digest: string | null
  readonly issuedAtMs: number | null
  /** Seconds since `issuedAtMs`. */
  readonly ageSeconds: number | null
  /** True: the channel record has expired. The node serves on, and somebody should look. */
  readonly expired: boolean
  readonly swapCount: number
  readonly lastSwapMs: number | null
  /** The last publication that this node did not activate; null: a later one was activated. */
  readonly refused: RefusedBundle | null
}

interface RefusedBundle {
  /** A word for programs, such as `rollback` or `bad-bundle`. */
  readonly code: string
  readonly message: string
  readonly seq: number
  /** SHA-256 in hex. */
  readonly digest: string
}
