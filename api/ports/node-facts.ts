// Defines the port to facts about this node that the dashboard shows.

/** Countries of a sample of the queries of the last hour. */
export interface ClientRegions {
  readonly hasDatabase: boolean
  readonly seconds: number
  readonly sampled: number
  readonly countries: readonly {
    /** Two letters; '': unknown. */
    readonly country: string
    readonly queries: number
  }[]
}

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
