// The port to health signals: what external monitors report of members.

/** One source's word on one member. */
export interface HealthSignal {
  readonly memberUid: string
  /** The monitor that says it: its newer word on the member replaces this one. */
  readonly source: string
  readonly healthy: boolean
  /** 0 to 1, for people; null: not given. Decides nothing. */
  readonly score: number | null
  /** Unix epoch. The newer of two words of one source wins, in whatever order they arrive. */
  readonly postedAtMs: number
  /** The word counts until then. */
  readonly expiresAtMs: number
}

/** What the store keeps at most, and for how long. */
export const healthSignalLimits = {
  ttlSecondsDefault: 300,
  ttlSecondsMax: 3_600,
  /** A word is kept this long after it was posted, so that an older one cannot come back. */
  keptMs: 2 * 3_600_000,
  sourcesPerMemberMax: 32,
  signalsMax: 100_000,
  sourceLengthMax: 255,
} as const

/** Words are lost with a restart. Each method rejects when the store is away. */
export interface HealthSignals {
  /**
   * @returns `replaced` when a newer word of that source is there already, `full` when the member
   *   or the store has no room for one more source
   */
  readonly post: (signal: HealthSignal) => Promise<'accepted' | 'replaced' | 'full'>
  /** All that is kept, expired words too. */
  readonly load: () => Promise<readonly HealthSignal[]>
  /**
   * `handler` is called with each word that is accepted, here or on another node; after a bus was
   * away, with words that it knows already, too.
   */
  readonly subscribe: (handler: (signal: HealthSignal) => void) => () => void
}
