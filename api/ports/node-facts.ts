// What the dashboard shows of the node itself.

export interface NodeFacts {
  readonly uptimeSeconds: () => number
  /** Open connections of the feed. */
  readonly webSocketClients: () => number
}
