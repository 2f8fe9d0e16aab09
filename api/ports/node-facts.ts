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
