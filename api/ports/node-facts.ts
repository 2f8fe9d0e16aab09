// The port to facts about this node that the dashboard shows.

/** Where a sample of the queries of the last hour came from. */
export interface ClientRegions {
  readonly hasDatabase: boolean
  readonly seconds: number
  readonly sampled: number
  readonly countries: readonly {
    /** Two letters; '': nobody knows. */
    readonly country: string
    readonly queries: number
  }[]
}

export interface NodeFacts {
  readonly uptimeSeconds: () => number
  /** Open connections of the feed. */
  readonly webSocketClients: () => number
  /** null: this node counts no clients. */
  readonly clientRegions: () => ClientRegions | null
}
