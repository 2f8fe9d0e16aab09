// Defines the plan of a delivery: its waves, its gates, and what a failed gate does.

export interface DeliveryPlan {
  readonly waves: readonly WavePlan[]
  readonly gates: GateLimits
  readonly onFailure: 'return' | 'hold'
  /** Decisions of later commits about the change of a commit. */
  readonly decisions: readonly DeliveryDecision[]
}

interface DeliveryDecision {
  /** The beginning of the commit's id, in hex. */
  readonly commit: string
  readonly decision: 'pause' | 'promote' | 'abort'
}

/** A wave: either labels or a share. */
export interface WavePlan {
  /** The wave has the nodes with all these labels; null: it is a share. */
  readonly labels: Readonly<Record<string, string>> | null
  /** Share of all heard nodes, earlier waves included; null: the wave has labels. */
  readonly percent: number | null
  /** Time from when all its nodes have the bundle to the next wave. */
  readonly holdMs: number
  /** How long its nodes compute with the bundle before they take it, from when all do. 0: not. */
  readonly shadowMs: number
}

/** Shares are in percent; those of answers and members are limits of the rise. */
export interface GateLimits {
  readonly servfail: number
  readonly noCandidate: number
  readonly membersDown: number
  /** Time within which 99 of 100 answers must be computed; null: there is no such limit. */
  readonly p99Us: number | null
  /** Share of compared queries with another answer; null: there is no such limit. */
  readonly changedAnswers: number | null
  /** Number of nodes. */
  readonly refusals: number
  readonly silent: number
  /** Shares of fewer answers do not count. */
  readonly answersMin: number
}

export const deliveryLimits = {
  /** A node asks within 25 s, and reports then. */
  silentMs: 60_000,
  /** Time for nodes of a wave to take the bundle. */
  adoptMs: 600_000,
  /** Age of reports that count at the end of a wave, unless nodes are asked to wait longer. */
  freshMs: 5_000,
  /** Interval of the deciding node's beats; after `takeOverMs` of silence another decides. */
  beatMs: 5_000,
  takeOverMs: 15_000,
  /** The shortest wait that nodes of a wave are asked for: they report this often. */
  waitSecondsMin: 1,
  /** Reports a second of all nodes of a wave. */
  reportsPerSecond: 200,
} as const
