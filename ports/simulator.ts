// Defines the port to simulated queries: what this node would answer now, and why.
import type { Result } from '#lib/result.ts'
import { Type } from '#lib/schema/type.ts'
import type { Shown } from '#lib/schema/type.ts'

export interface SimulatedQuery {
  readonly name: string
  readonly type: string
  /** Source address of the query. */
  readonly client?: string
  /** The client subnet that a resolver sends. */
  readonly subnet?: string
  /** RFC 3339; left out: now. */
  readonly at?: string
  readonly health?: Readonly<Record<string, unknown>>
  /** The node whose probes decide health; left out: this node's view. */
  readonly node?: string
  readonly seed?: number
  /** A commit of the history that answers; left out: the active one. */
  readonly commit?: string
}

export type SimulationFault =
  | { readonly code: 'invalid'; readonly field: string; readonly reason: string }
  /** The name does not belong to the tenant. */
  | { readonly code: 'not-found' }
  /** Too many wait, it took too long, or there is no bundle to answer from. */
  | { readonly code: 'busy' | 'too-slow' | 'no-bundle' }

/** `none`: the database has no network in that country. */
export type NoClient = 'no-database' | 'none'

export interface Simulator {
  /**
   * Simulates; nothing of the node changes.
   *
   * @param tenant of the caller; null: may see all
   */
  readonly simulate: (
    query: SimulatedQuery,
    tenant: string | null,
  ) => Promise<Result<object, SimulationFault>>
  /**
   * A client network by the geo database of this node.
   *
   * @param country two letters
   */
  readonly clientOf: (country: string) => Result<string, NoClient>
  /** @returns undefined: there is no such code */
  readonly explain: (code: string) => Explanation | undefined
}

/** What a code of a diagnostic, or of a commit that is not taken, means. */
export const Explanation = Type.Object(
  {
    code: Type.String(),
    severity: Type.String({
      description: 'Of a reason why a commit is not taken: held, unreachable',
    }),
    message: Type.String(),
    cause: Type.String(),
    help: Type.String({ description: 'What to do' }),
    bad: Type.String({ description: 'YAML that causes it' }),
    good: Type.String({ description: 'YAML that does not' }),
  },
  { title: 'Explanation' },
)
export type Explanation = Shown<typeof Explanation>
