// Defines the counters of a node's answers, as the API shows them.

/** Counters of one thread since the start of the process. */
export interface ThreadCounts {
  readonly udpQueries: number
  readonly tcpQueries: number
  /** Packets without a reply: responses and fragments of a header. */
  readonly dropped: number
  readonly truncated: number
  /** A service's pool had members of the family, but none could answer. */
  readonly noCandidate: number
  readonly batches: number
  readonly sendErrors: number
  /** Answered SERVFAIL because of the licence's limit of queries per second. */
  readonly overLimit: number
  /** Answers beyond a rate limit, by class and action. */
  readonly rateLimited: readonly {
    readonly class: string
    readonly action: string
    readonly count: number
  }[]
  /** Answers without a rate-limit bucket of their own. */
  readonly rateCrowded: number
  /** By mnemonic: A, AAAA … */
  readonly byType: Readonly<Record<string, number>>
  /** Queries by the state of their DNS cookie: none, malformed, client, valid, expired, invalid. */
  readonly byCookie: Readonly<Record<string, number>>
  /** Script steps by outcome. */
  readonly byScriptOutcome: Readonly<Record<string, number>>
  /**
   * PROXY protocol headers of connections and datagrams by outcome, where proxies are configured.
   */
  readonly byProxyOutcome: Readonly<Record<string, number>>
  /** Times of a small sample of the UDP queries. */
  readonly times: {
    readonly sumMs: number
    /** From fast to slow; the last class has all slower ones. */
    readonly classes: readonly { readonly uptoMs: number; readonly count: number }[]
  }
}

/** Enabled members of the active bundle, including those in a maintenance window. */
export interface MemberCounts {
  readonly healthy: number
  readonly unhealthy: number
  /** Healthy, but not past the warm-up gate. */
  readonly warming: number
}

export interface NodeMemberCounts extends MemberCounts {
  /** Members that count as healthy without probes. */
  readonly unprobed: number
  /** Members with a host name or a source that have no address now; they count nowhere else. */
  readonly unresolved: number
}
