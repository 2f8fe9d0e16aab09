// The port to answers of the past: what this node answered at an instant, and why.
import type { Result } from '#lib/result.ts'

export interface PastQuery {
  readonly name: string
  readonly type: string
  /** Address of who asked. */
  readonly client?: string
  /** The subnet that a resolver sent for its client. */
  readonly subnet?: string
  /** RFC 3339, a time of day in UTC, or how long ago it was. */
  readonly at: string
  /** Whose answer; without it, this node's. */
  readonly node?: string
}

export type PastFault =
  | { readonly code: 'invalid'; readonly field: string; readonly reason: string }
  /** It was no name of the tenant's. */
  | { readonly code: 'not-found' }
  /** The journal, or the bundle that answered at that time, is not there: a sentence. */
  | { readonly code: 'unknown'; readonly reason: string }
  /** The database with the journals of other nodes: a sentence. */
  | { readonly code: 'away'; readonly reason: string }
  | { readonly code: 'busy' | 'too-slow' }

export interface HealthQuery {
  /** The pool's tenant. */
  readonly tenant: string
  /** Ids, of one pool. */
  readonly members: readonly string[]
  readonly rangeMs: number
  /** Also the nodes whose journals are in the database; their names are not for tenants. */
  readonly ofAll: boolean
  /** Name of the only node whose history is wanted. */
  readonly node?: string
}

/** One member, for one node, in a time in which it was the same. */
export interface HealthStretch {
  readonly fromMs: number
  readonly toMs: number
  readonly standing: string
  /** Why it is not known; else empty. */
  readonly reason: string
  /** How often it changed meanwhile: more than can be told apart. */
  readonly changes: number
}

export interface NodeHistory {
  readonly node: string
  readonly members: readonly {
    readonly member: string
    /** They fill the time, in order. */
    readonly stretches: readonly HealthStretch[]
  }[]
}

export interface HealthHistory {
  readonly fromMs: number
  readonly toMs: number
  readonly nodes: readonly NodeHistory[]
}

export interface Past {
  /** History of members, from the journals that this node can read. */
  readonly health: (query: HealthQuery) => Promise<Result<HealthHistory, PastFault>>
  /** @param tenant who asks; null: may see all */
  readonly why: (query: PastQuery, tenant: string | null) => Promise<Result<object, PastFault>>
}
