// The port to what nodes found by their sources of discovery, for nodes that cannot ask them. What
// is in it is signed, and checked by those that read it.
export const fleetTargetsLimits = {
  /** Characters of what one question found; more is not shared. */
  textMax: 4_194_304,
  keptMaxMs: 4 * 86_400_000,
} as const

/** Each method rejects when the store cannot be reached; the caller then goes on without it. */
export interface FleetTargets {
  /** Replaces what any node has told. @param key what was asked: `SOURCE/SERVICE` */
  readonly publish: (key: string, text: string, keptMs: number) => Promise<void>
  /** null: nobody has told of it, or long ago. */
  readonly read: (key: string) => Promise<string | null>
}
