// The read-only port to the running node.
import type { StatusDiagnostic } from '#diagnostics/status-diagnostic.ts'

/** Everything the API needs; the composition builds it from the parts that it started. */
export interface OperatorView {
  readonly health: () => HealthStatus
  /** What the node still waits for since its start; empty: it can be used. */
  readonly unready: () => readonly HealthReason[]
  readonly gitops: () => GitopsStatus
  /** Prometheus text; see metrics/metrics.ts. */
  readonly metrics: () => Promise<string>
}

export interface HealthStatus {
  /** `starting`: no bundle yet. `degraded`: answering, but something needs a person. */
  readonly status: 'ok' | 'degraded' | 'starting'
  /** Empty when it is ok, and only then. */
  readonly reasons: readonly HealthReason[]
}

/** For everybody's eyes: no path, no host, no name. */
export interface HealthReason {
  /** A word for programs, such as `redis-away`. */
  readonly code: string
  /** What is wrong and where to look. */
  readonly message: string
}

/** Head, accepted and active are three different things; each may be behind the one before. */
export interface GitopsStatus {
  readonly branch: string
  /** Newest commit that the remote or the local origin shows; hex. null: none seen yet. */
  readonly head: string | null
  /** Newest commit that passed signature and compiler. */
  readonly accepted: string | null
  /** Commit that the responders answer from. */
  readonly active: string | null
  readonly sync: SyncState
  /** Why `sync` is `held` or `unreachable`; null otherwise. */
  readonly reason: StatusReason | null
  /**
   * Why a guardrail did not hold the accepted commit, that it is the repair of which change; null:
   * none would have, or it was accepted before this process began.
   */
  readonly note: string | null
  /**
   * What the compiler says of the head, warnings of an accepted one included, at most 100; then
   * what the accepted one has beyond the licence, at most 100 again.
   */
  readonly diagnostics: readonly StatusDiagnostic[]
  /** When the last look at the branch that ended began; null: none has. */
  readonly lookedFromMs: number | null
  readonly node: NodeStatus
}

/** `held`: the head was refused, or the next one would be; the accepted commit goes on serving. */
export const syncStates = ['starting', 'synced', 'pending', 'held', 'unreachable'] as const
export type SyncState = (typeof syncStates)[number]

export interface StatusReason {
  /** A word for programs, such as `Unsigned` or `HistoryRewritten`. */
  readonly code: string
  /** What is wrong and what to do, in a sentence. */
  readonly message: string
  /** When this began; milliseconds since the epoch. */
  readonly sinceMs: number
}

/** The bundle that this node answers from. All null or 0 before the first. */
export interface NodeStatus {
  readonly channel: string
  readonly seq: number
  /** Serial of the bundle's SOA records. */
  readonly serial: number
  /** SHA-256, hex. */
  readonly digest: string | null
  readonly issuedAtMs: number | null
  /** Since `issuedAtMs`. */
  readonly ageSeconds: number | null
  /** The channel record is past its expiry: the node serves on, and somebody should look. */
  readonly expired: boolean
  readonly swapCount: number
  readonly lastSwapMs: number | null
  /** The last publication that this node did not activate; null once a later one was. */
  readonly refused: RefusedBundle | null
}

export interface RefusedBundle {
  /** A word for programs, such as `rollback` or `bad-bundle`. */
  readonly code: string
  readonly message: string
  readonly seq: number
  /** SHA-256, hex. */
  readonly digest: string
}
