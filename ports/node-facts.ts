// Defines the port to facts about this node that the dashboard shows.
import type { Result } from '#lib/result.ts'
import { Type } from '#lib/schema/type.ts'
import type { Shown } from '#lib/schema/type.ts'

/** Countries of a sample of the queries of the last hour. */
export const ClientRegions = Type.Object(
  {
    hasDatabase: Type.Boolean({
      description: 'Whether a database of countries is loaded: without one nothing is counted',
    }),
    seconds: Type.Integer({ description: 'How long was counted: an hour at most' }),
    sampled: Type.Integer({ description: 'Queries that were looked at' }),
    countries: Type.Array(
      Type.Object({
        country: Type.String({ description: 'Two letters; empty: the database does not know' }),
        queries: Type.Integer({ description: 'About as many: computed from those looked at' }),
      }),
      { description: 'The most first' },
    ),
  },
  { title: 'ClientRegions' },
)
export type ClientRegions = Shown<typeof ClientRegions>

export interface NodeFacts {
  readonly uptimeSeconds: () => number
  /** Number of open connections of the feed. */
  readonly webSocketClients: () => number
  /** null: this node counts no clients. */
  readonly clientRegions: () => ClientRegions | null
}

export const sourceStates = ['ok', 'asking', 'failing', 'held', 'unused'] as const

/** A source of this node's settings, and how it stands with what members ask it. */
export interface ShownSource {
  readonly name: string
  readonly type: string
  /** Ids; `*` among them: all tenants. */
  readonly tenants: readonly string[]
  readonly state: (typeof sourceStates)[number]
  /** When the members that are worst off were found, Unix epoch; 0: never. */
  readonly foundAtMs: number
  /** Why it is not as it should be; empty: it is. */
  readonly error: string
  /** What would make it better; empty: nothing. */
  readonly note: string
  /** How many members are found by it. */
  readonly members: number
  /** How many of them are not found any more, and held. */
  readonly held: number
  /** Since when, Unix epoch; 0: none are. */
  readonly heldSinceMs: number
}

export interface DiscoveryView {
  readonly sources: () => readonly ShownSource[]
  /** Lets go what is held of a source. @returns how many members */
  readonly accept: (name: string) => number
}

export const zoneTransferStates = [
  ...(['asking', 'current', 'failing'] as const),
  ...(['held', 'refused', 'expired'] as const),
] as const

export interface ZoneTransfer {
  /** Lower case, final dot. */
  readonly zone: string
  readonly primaries: readonly { readonly address: string; readonly port: number }[]
  readonly state: (typeof zoneTransferStates)[number]
  /** The serial that is here; undefined: none is. */
  readonly serial: number | undefined
  /** The serial that is held or refused; undefined: none is. */
  readonly offered: number | undefined
  /** Why it is not as it should be; empty: it is. */
  readonly error: string
  /** When a primary server was heard last, Unix epoch; 0: never. */
  readonly contactAtMs: number
  /** Since the start of the node. */
  readonly transfers: number
  readonly failures: number
}

export interface ZoneTransfers {
  readonly list: () => readonly ZoneTransfer[]
  /**
   * Transfers the whole zone, whatever its serial, and takes it beyond guardrails. Errors: why it
   * was not taken. @returns the serial that is here now; undefined: there is no such zone
   */
  readonly accept: (zone: string, reason: string) => Promise<Result<number, string> | undefined>
}
