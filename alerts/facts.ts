// Defines the facts that conditions examine: the state of this node and of the cluster.

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
  /** Declared members, of both families. */
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

interface GeoFacts {
  readonly setting: string
  /** Why the present file is not in use; '': it is. */
  readonly error: string
  /** When the database was made; null: none is in use. */
  readonly builtAtMs: number | null
}

export interface LicenceFacts {
  readonly isEnforced: boolean
  readonly isValid: boolean
  readonly reason: string
  /** null: it never ends, or there is none. */
  readonly expiresAtMs: number | null
  /** Usage beyond the licence; '': none. */
  readonly excess: string
}

export interface CertificateFacts {
  readonly name: string
  readonly path: string
  /** Why it cannot be read; '': it can. */
  readonly error: string
  readonly expiresAtMs: number | null
}

/** A certificate of an ACME server. */
export interface RenewalFacts {
  /** An entry of `acme.certificates`; '': `acme.names`. */
  readonly entry: string
  readonly names: readonly string[]
  /** Why the last try failed, a sentence without its full stop; null: it did not. */
  readonly failure: string | null
  /** Next try; null: none is planned. */
  readonly nextMs: number | null
  /** From when to when the one in use is valid; null: there is none. */
  readonly valid: { readonly fromMs: number; readonly toMs: number } | null
}

export interface MissingNode {
  readonly node: string
  readonly sinceMs: number
}

/** A fault of a node that pulls bundles. */
export interface DriftedNodeFacts {
  readonly node: string
  readonly kind: 'missing' | 'behind' | 'split-seq' | 'clock' | 'refusing' | 'name-taken'
  /** Seq of its active bundle. */
  readonly seq: number
  /** Age of its last report. */
  readonly ageSeconds: number
  /** How far its clock is at least ahead (+) of most others, or behind (-). */
  readonly clockErrorMs: number
  /** Why it last refused something; '': it did not. */
  readonly refusal: string
}

/** A node that pulls bundles, and a code of its health. */
export interface DegradedNodeFacts {
  readonly node: string
  readonly code: string
}

/** A server that gets redirects. */
export interface RedirectTargetFacts {
  readonly target: string
  /** Looks within the last hour that found a foreign change. */
  readonly mendedLately: number
  /** Why the last look failed; '': it did not. */
  readonly fault: string
}

/** A delivery that was stopped. */
export interface StoppedDeliveryFacts {
  readonly channel: string
  /** True: all nodes have the last good bundle again. */
  readonly isReturned: boolean
  readonly commit: string
  readonly gate: string
  /** Number of the wave, from 1. */
  readonly wave: number
  readonly value: number
  readonly limit: number
}

interface DiscoverySourceFacts {
  readonly name: string
  readonly state: 'ok' | 'asking' | 'failing' | 'held' | 'unused'
  /** Half a sentence; empty: all is well. */
  readonly error: string
  /** Members that are not found any more, and are answered. */
  readonly held: number
}

export interface ZoneTransferFacts {
  /** Lower case, final dot. */
  readonly zone: string
  readonly state: 'asking' | 'current' | 'failing' | 'held' | 'refused' | 'expired'
  /** The serial that is here; undefined: none is. */
  readonly serial: number | undefined
  /** Why it is not as it should be; empty: it is. */
  readonly error: string
}

export interface ZonePushFacts {
  readonly name: string
  readonly zone: string
  /** A sentence; empty: the last push went well. */
  readonly fault: string
  /** What is more than the limit; null: nothing is. */
  readonly held: { readonly deletes: number; readonly limit: number } | null
  /** Records that somebody took away at the target, and sets of others that are in the way. */
  readonly drift: number
}

/** A fault of keys that sign zones. */
export interface ZoneKeyFacts {
  readonly kind: 'missing' | 'stale' | 'unused' | 'behind' | 'left-behind' | 'ds-mismatch' | 'waits'
  /** A node; for `ds-mismatch` and `waits` a zone. */
  readonly of: string
  /** A sentence, or several. */
  readonly detail: string
}

interface DiskFacts {
  /** Why the data directory cannot be used; '': it can. */
  readonly fault: string
  /** 0 to 100; null: unknown. */
  readonly freePercent: number | null
}

/** Each is called once in a look. */
export interface AlertFacts {
  /** Rollouts that are rolled back. */
  readonly regressions: () => readonly RegressedRollout[]
  /** Pools of services without a member that may answer. */
  readonly emptyPools: () => readonly PoolFacts[]
  readonly flapping: () => readonly FlappingMember[]
  /** Enabled members that are unhealthy. */
  readonly downMembers: () => readonly DownMember[]
  /** Why the newest commit is held; null: it is not. */
  readonly held: () => { readonly code: string; readonly reason: string } | null
  readonly geo: () => readonly GeoFacts[]
  /** null: unknown yet. */
  readonly licence: () => LicenceFacts | null
  readonly certificates: () => readonly CertificateFacts[]
  /** null: no certificate is asked for. */
  readonly renewals: () => readonly RenewalFacts[]
  readonly missing: () => readonly MissingNode[]
  /** The active commit of each live node; '': none. */
  readonly commits: () => ReadonlyMap<string, string>
  /** What the health of this node says. */
  readonly reasons: () => readonly { readonly code: string; readonly message: string }[]
  readonly driftedNodes: () => readonly DriftedNodeFacts[]
  /** Also what a node that is silent now said last. */
  readonly degradedNodes: () => readonly DegradedNodeFacts[]
  readonly redirectTargets: () => readonly RedirectTargetFacts[]
  readonly stoppedDeliveries: () => readonly StoppedDeliveryFacts[]
  readonly discoverySources: () => readonly DiscoverySourceFacts[]
  readonly zoneTransfers: () => readonly ZoneTransferFacts[]
  readonly zonePushes: () => readonly ZonePushFacts[]
  /** Faults of this node, of those that pull, and of parents of signed zones. */
  readonly zoneKeys: () => readonly ZoneKeyFacts[]
  readonly disk: () => DiskFacts
  readonly nowMs: () => number
}
