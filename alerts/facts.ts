// What conditions look at: the state of this node and of the cluster, as the composition gives it.

export interface RegressedRollout {
  readonly uid: string
  readonly name: string
  readonly tenant: string
  readonly pool: string
  readonly reason: string
}

export interface PoolFacts {
  readonly uid: string
  readonly name: string
  readonly tenant: string
  /** Declared, of both families. */
  readonly members: number
}

export interface FlappingMember {
  readonly uid: string
  readonly address: string
  readonly pool: string
  readonly tenant: string
  /** Changes of its health within `windowMs`. */
  readonly changes: number
  readonly windowMs: number
}

export type DownMember = Omit<FlappingMember, 'changes' | 'windowMs'>

export interface GeoFacts {
  readonly setting: string
  /** Why the file as it is now is not in use; '': it is. */
  readonly error: string
  /** When the database was made; null: none is in use. */
  readonly builtAtMs: number | null
}

export interface LicenceFacts {
  readonly isEnforced: boolean
  readonly isValid: boolean
  readonly reason: string
  /** null: never, or there is none. */
  readonly expiresAtMs: number | null
  /** What is used beyond it; '': nothing. */
  readonly excess: string
}

export interface CertificateFacts {
  readonly name: string
  readonly path: string
  /** Why it cannot be read; '': it can. */
  readonly error: string
  readonly expiresAtMs: number | null
}

export interface MissingNode {
  readonly node: string
  readonly sinceMs: number
}

/** One thing that is wrong with a node that pulls bundles. */
export interface DriftedNodeFacts {
  readonly node: string
  readonly kind: 'missing' | 'behind' | 'split-seq' | 'clock' | 'refusing' | 'name-taken'
  /** Seq of the bundle that it serves. */
  readonly seq: number
  /** Since it was last heard. */
  readonly ageSeconds: number
  readonly clockOffsetMs: number
  /** Why it last refused something; '': it did not. */
  readonly refusal: string
}

/** A server that gets redirects. */
export interface RedirectTargetFacts {
  readonly target: string
  /** Looks within the last hour that found what somebody else had changed there. */
  readonly mendedLately: number
  /** Why the last look failed; '': it did not. */
  readonly fault: string
}

/** A change that did not reach all nodes. */
export interface StoppedDeliveryFacts {
  readonly channel: string
  /** All nodes have the last good one again. */
  readonly isReturned: boolean
  readonly commit: string
  readonly gate: string
  /** From 1. */
  readonly wave: number
  readonly value: number
  readonly limit: number
}

export interface DiskFacts {
  /** Why the data directory cannot be used; '': it can. */
  readonly fault: string
  /** 0 to 100; null: not known. */
  readonly freePercent: number | null
}

/** Each is asked once in a look. */
export interface AlertFacts {
  /** Rollouts that stand rolled back. */
  readonly regressions: () => readonly RegressedRollout[]
  /** Pools that some service answers from, and of which no member may answer now. */
  readonly emptyPools: () => readonly PoolFacts[]
  readonly flapping: () => readonly FlappingMember[]
  /** Enabled ones that are not healthy. */
  readonly downMembers: () => readonly DownMember[]
  /** Why the newest commit is not taken; null: it is, or is on its way. */
  readonly held: () => { readonly code: string; readonly reason: string } | null
  readonly geo: () => readonly GeoFacts[]
  /** null: not known yet. */
  readonly licence: () => LicenceFacts | null
  readonly certificates: () => readonly CertificateFacts[]
  readonly missing: () => readonly MissingNode[]
  /** For each node that is there, the commit that it answers from; '': none. */
  readonly commits: () => ReadonlyMap<string, string>
  readonly driftedNodes: () => readonly DriftedNodeFacts[]
  readonly redirectTargets: () => readonly RedirectTargetFacts[]
  readonly stoppedDeliveries: () => readonly StoppedDeliveryFacts[]
  readonly disk: () => DiskFacts
  readonly nowMs: () => number
}
