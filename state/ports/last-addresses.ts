// The port to the last good addresses of host names, from which a restart continues.

export interface LastGood {
  readonly hostname: string
  readonly v4: readonly string[]
  readonly v6: readonly string[]
  /** When they were resolved, Unix epoch. */
  readonly atMs: number
}

export interface LastAddresses {
  /** undefined: none are known, or they are too old. */
  readonly of: (hostname: string) => LastGood | undefined
  /** Replaces all stored addresses. Failures are logged. */
  readonly keep: (all: readonly LastGood[]) => void
}
