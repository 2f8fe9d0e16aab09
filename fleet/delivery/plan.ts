// The plan of a delivery: its waves, its gates, and what a gate that fails does.

export interface DeliveryPlan {
  readonly waves: readonly WavePlan[]
  readonly gates: GateLimits
  readonly onFailure: 'return' | 'hold'
  /** What a later commit has decided about the change of a commit. */
  readonly decisions: readonly DeliveryDecision[]
}

export interface DeliveryDecision {
  /** Hex: it begins with this. */
  readonly commit: string
  readonly decision: 'pause' | 'promote' | 'abort'
}

/** Either labels or a share. */
export interface WavePlan {
  /** Nodes that have all of them; null: the wave is a share. */
  readonly labels: Readonly<Record<string, string>> | null
  /** Share of all nodes that are heard, with earlier waves included; null: the wave has labels. */
  readonly percent: number | null
  /** From the moment that all its nodes have the bundle to the next wave. */
  readonly holdMs: number
  /**
   * How long its nodes compute with the bundle, too, before they take it; from the moment that all
   * do. 0: they do not.
   */
  readonly shadowMs: number
}

/** Shares are in percent; those of answers and members count what they rose by. */
export interface GateLimits {
  readonly servfail: number
  readonly noCandidate: number
  readonly membersDown: number
  /** Within which 99 of 100 answers must be computed; null: there is no such limit. */
  readonly p99Us: number | null
  /** Share of the queries that were computed with both bundles; null: there is no such limit. */
  readonly changedAnswers: number | null
  /** Nodes. */
  readonly refusals: number
  readonly silent: number
  /** Shares of fewer answers say nothing. */
  readonly answersMin: number
}

export const deliveryLimits = {
  /** A node asks within 25 s, and says then how it is. */
  silentMs: 60_000,
  /** For nodes of a wave to take the bundle. */
  adoptMs: 600_000,
  /** Reports that count are not older when a wave ends, unless nodes are asked to wait longer. */
  freshMs: 5_000,
  /** The deciding node says so this often; after `takeOverMs` of silence another one decides. */
  beatMs: 5_000,
  takeOverMs: 15_000,
  /** How long nodes of a wave are asked to wait at least: they report this often. */
  waitSecondsMin: 1,
  /** Reports a second that the nodes of a wave send. */
  reportsPerSecond: 200,
} as const
