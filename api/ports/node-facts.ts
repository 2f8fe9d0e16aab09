// The port to facts about this node that the dashboard shows.

export interface NodeFacts {
  readonly uptimeSeconds: () => number
  /** Open connections of the feed. */
  readonly webSocketClients: () => number
}
