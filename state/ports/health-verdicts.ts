// The port to this node's last verdict on each member, with which a restart continues.

/** What a verdict is about: a member at another address is another one. */
export interface VerdictOwner {
  readonly memberUid: string
  /** As written in the configuration. */
  readonly ipAddress: string
}

export interface StoredVerdict extends VerdictOwner {
  readonly healthy: boolean
  /** It has not passed its warm-up gate; false: it is in rotation. */
  readonly warming: boolean
  /** Why it is unhealthy, in the words of the probe; left out: nobody said. */
  readonly reason?: string
  /** When it changed, Unix epoch. */
  readonly atMs: number
}

/** Each method rejects when the store cannot be reached; the caller then goes on without it. */
export interface HealthVerdicts {
  /** Every verdict that was saved and not forgotten, in no order. */
  readonly load: () => Promise<readonly StoredVerdict[]>
  /** Replaces the owner's verdict. Called for changes only. */
  readonly save: (verdicts: readonly StoredVerdict[]) => Promise<void>
  /** Owners that have no verdict are passed over. */
  readonly forget: (owners: readonly VerdictOwner[]) => Promise<void>
}
