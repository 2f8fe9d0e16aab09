// Defines the port to facts about this node that the dashboard shows.
import type { Result } from '#lib/result.ts'
import { Type } from '#lib/schema/type.ts'
import type { Shown } from '#lib/schema/type.ts'
import { nullable } from '#http/shapes.ts'

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

const sourceStates = ['ok', 'asking', 'failing', 'held', 'unused'] as const

const Unix = (description: string) => nullable(Type.Integer({ description }))

/** A source of a node's settings, and how it stands with what members ask it. */
export const DiscoverySource = Type.Object(
  {
    name: Type.String(),
    type: Type.String({ description: 'file, http, dns, consul or kubernetes' }),
    tenants: Type.Array(Type.String(), { description: 'Whose pools may name it; *: all' }),
    state: Type.Enum([...sourceStates], {
      description:
        'failing: it does not say what there is, and the last good members are answered; held: ' +
        'too many vanished at once, and stay; unused: no pool asks for it',
    }),
    foundAt: Unix('When the members that are worst off were found, Unix milliseconds; null: never'),
    error: Type.String({ description: 'Why it fails or is held; empty: neither' }),
    note: Type.String({
      description:
        'What would make it better, as a right that is missing, or what a member asks for in ' +
        'vain; empty: nothing',
    }),
    members: Type.Integer({ description: 'Addresses that pools have by it' }),
    held: Type.Integer({ description: 'How many are not found any more, and stay' }),
    heldSince: Unix('Unix milliseconds; null: none are held'),
  },
  { title: 'DiscoverySource' },
)

/** The same with times of which 0 is never. */
export interface ShownSource extends Omit<Shown<typeof DiscoverySource>, 'foundAt' | 'heldSince'> {
  readonly foundAtMs: number
  readonly heldSinceMs: number
}

export interface DiscoveryView {
  readonly sources: () => readonly ShownSource[]
  /** Lets go what is held of a source. @returns how many members */
  readonly accept: (name: string) => number
}

export const ZoneTransfer = Type.Object(
  {
    zone: Type.String({ description: 'Lower case, with the final dot' }),
    primaries: Type.Array(Type.String(), { description: 'Addresses and ports, as they are asked' }),
    state: Type.Enum(['asking', 'current', 'failing', 'held', 'refused', 'expired'], {
      description:
        'failing: no primary server answers as it should, and what is here is answered; held: ' +
        'guardrails say that it changes too much; refused: it cannot be used; expired: its ' +
        'records are not answered any more',
    }),
    serial: nullable(Type.Integer({ description: 'Of what is here; null: nothing ever came' })),
    offered: nullable(Type.Integer({ description: 'Of what is held or refused; null: nothing' })),
    error: Type.String({ description: 'Why it is not current; empty: it is' }),
    contactAt: Unix('When a primary server was heard, Unix milliseconds'),
    transfers: Type.Integer({ description: 'Since the start of this node' }),
    failures: Type.Integer({ description: 'Looks in vain, since the start of this node' }),
  },
  { title: 'ZoneTransfer' },
)

/** The same with what a node knows: undefined is no serial, and 0 is never. */
export interface ShownTransfer extends Omit<Shown<typeof ZoneTransfer>, Converted> {
  readonly primaries: readonly { readonly address: string; readonly port: number }[]
  readonly serial: number | undefined
  readonly offered: number | undefined
  readonly contactAtMs: number
}
type Converted = 'primaries' | 'serial' | 'offered' | 'contactAt'

export interface ZoneTransfers {
  readonly list: () => readonly ShownTransfer[]
  /**
   * Transfers the whole zone, whatever its serial, and takes it beyond guardrails. Errors: why it
   * was not taken. @returns the serial that is here now; undefined: there is no such zone
   */
  readonly accept: (zone: string, reason: string) => Promise<Result<number, string> | undefined>
}
