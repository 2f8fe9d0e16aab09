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
  /** The journal or the bundle of then is not there: a sentence. */
  | { readonly code: 'unknown'; readonly reason: string }
  | { readonly code: 'busy' | 'too-slow' }

export interface Past {
  /** @param tenant who asks; null: may see all */
  readonly why: (query: PastQuery, tenant: string | null) => Promise<Result<object, PastFault>>
}
