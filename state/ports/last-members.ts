// The port to the members that sources of discovery gave last, for a restart.

export interface FoundMembers {
  /** What was asked, as a bundle names it. */
  readonly name: string
  /** Addresses in the form of RFC 5952, and what they weigh against each other. */
  readonly members: readonly (readonly [address: string, weight: number])[]
  /** When they were found, Unix epoch. */
  readonly atMs: number
}

export interface LastMembers {
  /** undefined: none are known, or they are too old. */
  readonly of: (name: string) => FoundMembers | undefined
  /** Replaces all that is kept. What cannot be kept is logged. */
  readonly keep: (all: readonly FoundMembers[]) => void
}
