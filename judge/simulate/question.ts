// Defines the input of a simulation: question, client, tables, random seed and scripts.
import type { RoutingTables } from '#routing/choose/environment.ts'
import type { HandedBundle } from '#answer/serving-view.ts'
import type { SimulatedScripts } from './scripts.ts'

export interface SimulatedQuestion {
  /** Name in wire form. */
  readonly qname: Uint8Array
  readonly qtype: number
  readonly seed: number
  /** How many answers in a row are drawn to count shares; 0: none. */
  readonly count: number
  /** Client subnet of the query; null: no subnet, and the client is 0.0.0.0. */
  readonly client: SimulatedClient | null
  /** Source address of the query; left out: 0.0.0.0. */
  readonly source?: Uint8Array
  readonly tables: RoutingTables
  readonly scripts: SimulatedScripts | null
  /** TXT records written at run time; left out or null: there are none. */
  readonly texts?: HandedBundle | null
  /** Details on the health of members, by number. */
  readonly words?: ReadonlyMap<number, HealthDetails>
}

/** Health details as in the status of a member. Times are Unix milliseconds; 0: unknown. */
export interface HealthDetails {
  readonly reason: string
  readonly since: number
  readonly lastCheck: number
}

export interface SimulatedClient {
  /** 4 or 16 octets. */
  readonly octets: Uint8Array
  readonly prefixBits: number
}
