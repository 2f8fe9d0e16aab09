// The port to simulated queries: what this node would answer now, and why.
import type { Result } from '#lib/result.ts'

export interface SimulatedQuery {
  readonly name: string
  readonly type: string
  /** Address of who asks. */
  readonly client?: string
  /** The subnet that a resolver sends for its client. */
  readonly subnet?: string
  /** RFC 3339. Without it: now. */
  readonly at?: string
  readonly health?: Readonly<Record<string, unknown>>
  /** Whose probes say how members are; without it, this node's view. */
  readonly node?: string
  readonly seed?: number
  /** The configuration that answers, of the history; without it, what answers now. */
  readonly commit?: string
}

export type SimulationFault =
  | { readonly code: 'invalid'; readonly field: string; readonly reason: string }
  /** It is no name of the tenant's. */
  | { readonly code: 'not-found' }
  /** Others wait already, it took too long, or there is nothing to answer from. */
  | { readonly code: 'busy' | 'too-slow' | 'no-bundle' }

/** `none`: the database has no network there. */
export type NoClient = 'no-database' | 'none'

export interface Simulator {
  /** Nothing of the node changes. @param tenant who asks; null: may see all */
  readonly simulate: (
    query: SimulatedQuery,
    tenant: string | null,
  ) => Promise<Result<object, SimulationFault>>
  /**
   * A network of clients, as the geo database of this node has it.
   *
   * @param country two letters
   */
  readonly clientOf: (country: string) => Result<string, NoClient>
  /** undefined: there is no such code. */
  readonly explain: (code: string) => Explanation | undefined
}

export interface Explanation {
  readonly code: string
  /** `error`, `warning`, `note`; of a reason of Git `held` or `unreachable`. */
  readonly severity: string
  readonly message: string
  readonly cause: string
  readonly help: string
  /** Empty: none. */
  readonly bad: string
  readonly good: string
}
