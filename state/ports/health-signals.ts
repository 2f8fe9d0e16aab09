// The port to health signals: reports of external monitors about members.

/** One source's signal about one member. */
export interface HealthSignal {
  readonly memberUid: string
  /** Whose member it is; left out: an older version has posted it. */
  readonly tenantId?: string
  /** The monitor: its newer signal for the member replaces this one. */
  readonly source: string
  readonly healthy: boolean
  /** 0 to 1, for display only; null: not given. */
  readonly score: number | null
  /** Unix epoch. The newer of two signals of one source wins, whatever their order. */
  readonly postedAtMs: number
  /** Validity of the signal. */
  readonly expiresAtMs: number
}

export interface HealthSignalLimits {
  readonly ttlSecondsDefault: number
  readonly ttlSecondsMax: number
  /** A signal is kept this long after it was posted, so that an older one cannot return. */
  readonly keptMs: number
  readonly sourcesPerMemberMax: number
  /** Signals about members of one tenant: others have a place. */
  readonly perTenantMax: number
  readonly signalsMax: number
  readonly sourceLengthMax: number
}

/** Bounds of the store. */
export const healthSignalLimits: HealthSignalLimits = {
  ttlSecondsDefault: 300,
  ttlSecondsMax: 3_600,
  keptMs: 2 * 3_600_000,
  sourcesPerMemberMax: 32,
  perTenantMax: 50_000,
  signalsMax: 100_000,
  sourceLengthMax: 255,
}

/** Signals are lost with a restart. Each method rejects when the store is away. */
export interface HealthSignals {
  /**
   * @returns `replaced` when a newer signal of the source exists, `full` when the member, its
   * tenant or the store has no room for another source
   */
  readonly post: (signal: HealthSignal) => Promise<'accepted' | 'replaced' | 'full'>
  /** All kept signals, including expired ones. */
  readonly load: () => Promise<readonly HealthSignal[]>
  /** The same of one member. */
  readonly of: (memberUid: string) => Promise<readonly HealthSignal[]>
  /**
   * `handler` is called with each signal accepted here or on another node; after an outage of the
   * bus, also with known ones.
   */
  readonly subscribe: (handler: (signal: HealthSignal) => void) => () => void
}
