// The port to this node's last verdict on each member, from which a restart continues.

/** The subject of a verdict: a member at an address. */
export interface VerdictOwner {
  readonly memberUid: string
  /** As written in the configuration. */
  readonly ipAddress: string
}

export interface StoredVerdict extends VerdictOwner {
  readonly healthy: boolean
  /** It has not passed its warm-up gate; false: it is in rotation. */
  readonly warming: boolean
  /** Why it is unhealthy, in the words of the probe; left out: unknown. */
  readonly reason?: string
  /** When it changed, Unix epoch. */
  readonly atMs: number
}

/** Each method rejects when the store cannot be reached; the caller then continues without it. */
export interface HealthVerdicts {
  /** All saved verdicts that were not removed, unordered. */
  readonly load: () => Promise<readonly StoredVerdict[]>
  /** Replaces the owner's verdict. Called for changes only. */
  readonly save: (verdicts: readonly StoredVerdict[]) => Promise<void>
  /** Removes verdicts; unknown owners are ignored. */
  readonly forget: (owners: readonly VerdictOwner[]) => Promise<void>
}
