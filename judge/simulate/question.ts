// The input of a simulation: question, client, tables, random seed and scripts.
import type { RoutingTables } from '#routing/choose/environment.ts'
import type { HandedBundle } from '#answer/serving-view.ts'
import type { SimulatedScripts } from './scripts.ts'

export interface SimulatedQuestion {
  /** Wire form. */
  readonly qname: Uint8Array
  readonly qtype: number
  readonly seed: number
  /** Answers in a row of which the shares are counted; 0: none. */
  readonly count: number
  /** The subnet of the query's ECS option; null: no client in particular, 0.0.0.0. */
  readonly client: SimulatedClient | null
  /** Address that the query comes from; left out: 0.0.0.0. */
  readonly source?: Uint8Array
  readonly tables: RoutingTables
  readonly scripts: SimulatedScripts | null
  /** TXT records that were written at run time; left out, or null: there are none. */
  readonly texts?: HandedBundle | null
  /** What is said of the health of members, by their number; none: nothing. */
  readonly words?: ReadonlyMap<number, HealthDetails>
}

/** As the status of a member has them: the times are Unix milliseconds, 0 where not known. */
export interface HealthDetails {
  readonly reason: string
  readonly since: number
  readonly lastCheck: number
}

export interface SimulatedClient {
  /** 4 or 16. */
  readonly octets: Uint8Array
  readonly prefixBits: number
}
