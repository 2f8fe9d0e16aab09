// Defines the port to past answers: what this node answered at an instant, and why.
import type { Result } from '#lib/result.ts'

export interface PastQuery {
  readonly name: string
  readonly type: string
  /** Source address of the query. */
  readonly client?: string
  /** The client subnet that a resolver sent. */
  readonly subnet?: string
  /** RFC 3339, a time of day in UTC, or an age. */
  readonly at: string
  /** The node whose answer is wanted; left out: this one. */
  readonly node?: string
}

export type PastFault =
  | { readonly code: 'invalid'; readonly field: string; readonly reason: string }
  /** The name did not belong to the tenant. */
  | { readonly code: 'not-found' }
  /** The journal, or the bundle of that time, does not exist: a sentence. */
  | { readonly code: 'unknown'; readonly reason: string }
  /** The database with the journals of other nodes is away: a sentence. */
  | { readonly code: 'away'; readonly reason: string }
  | { readonly code: 'busy' | 'too-slow' }

interface HealthQuery {
  /** Tenant of the pool. */
  readonly tenant: string
  /** Ids of members of one pool. */
  readonly members: readonly string[]
  readonly rangeMs: number
  /** True: includes nodes whose journals are in the database. Tenants may not see their names. */
  readonly ofAll: boolean
  /** Name of the only node that is wanted. */
  readonly node?: string
}

/** A period in which one member had the same health for one node. */
export interface HealthStretch {
  readonly fromMs: number
  readonly toMs: number
  readonly standing: string
  /** Why the health is unknown; else empty. */
  readonly reason: string
  /** How often it changed in a period too short to list the changes. */
  readonly changes: number
}

export interface NodeHistory {
  readonly node: string
  readonly members: readonly {
    readonly member: string
    /** Periods in order, without a gap. */
    readonly stretches: readonly HealthStretch[]
  }[]
}

export interface HealthHistory {
  readonly fromMs: number
  readonly toMs: number
  readonly nodes: readonly NodeHistory[]
}

export interface Past {
  /** Health of members over time, from the journals that this node can read. */
  readonly health: (query: HealthQuery) => Promise<Result<HealthHistory, PastFault>>
  /** @param tenant of the caller; null: may see all */
  readonly why: (query: PastQuery, tenant: string | null) => Promise<Result<object, PastFault>>
}
