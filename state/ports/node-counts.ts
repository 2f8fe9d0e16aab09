// Defines what a node counts while it answers, as the API shows it.

/** One thread since the start of the process. */
export interface ThreadCounts {
  readonly udpQueries: number
  readonly tcpQueries: number
  /** Packets without a reply: responses, fragments of a header. */
  readonly dropped: number
  readonly truncated: number
  /** A service's pool had members of the family, and none could answer. */
  readonly noCandidate: number
  readonly batches: number
  readonly sendErrors: number
  /** Answered SERVFAIL because the licence permits no more queries a second. */
  readonly overLimit: number
  /** Answers beyond a rate limit, by class and by what was done with them. */
  readonly rateLimited: readonly {
    readonly class: string
    readonly action: string
    readonly count: number
  }[]
  /** Answers for which the table of rate limits had no bucket of their own. */
  readonly rateCrowded: number
  /** By mnemonic: A, AAAA … */
  readonly byType: Readonly<Record<string, number>>
  /** Queries by what they say of DNS cookies: none, malformed, client, valid, expired, invalid. */
  readonly byCookie: Readonly<Record<string, number>>
  /** Script steps, by how they ended. */
  readonly byScriptOutcome: Readonly<Record<string, number>>
  /** Beginnings of connections and datagrams, where proxies are named, by what became of them. */
  readonly byProxyOutcome: Readonly<Record<string, number>>
  /** Times of the UDP queries that were timed: a small sample of all. */
  readonly times: {
    readonly sumMs: number
    /** From fast to slow; the last one is of all that were slower. */
    readonly classes: readonly { readonly uptoMs: number; readonly count: number }[]
  }
}

/** Enabled members of the active bundle. Whom a maintenance window holds out is counted, too. */
export interface MemberCounts {
  readonly healthy: number
  readonly unhealthy: number
  /** Healthy, but not through the warm-up gate. */
  readonly warming: number
}

export interface NodeMemberCounts extends MemberCounts {
  /** Members that count as healthy and that nobody probes. */
  readonly unprobed: number
}
