// The port to the last good addresses of host names, with which a restart continues.

export interface LastGood {
  readonly hostname: string
  readonly v4: readonly string[]
  readonly v6: readonly string[]
  /** When they were found, Unix epoch. */
  readonly atMs: number
}

export interface LastAddresses {
  /** undefined: none are known, or they are too old. */
  readonly of: (hostname: string) => LastGood | undefined
  /** Replaces all that is kept. What cannot be kept is logged. */
  readonly keep: (all: readonly LastGood[]) => void
}
