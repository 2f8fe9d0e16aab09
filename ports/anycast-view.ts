// Defines the port to the addresses that this node announces by BGP.

export interface AnnouncedAddresses {
  readonly daemon: string
  readonly addresses: readonly string[]
  readonly isAnnounced: boolean
  readonly sinceMs: number
  /** Why they are not announced, in a word; null: they are. */
  readonly reason: string | null
  readonly holdDownLeftMs: number
  readonly driver: {
    /** Whether the daemon answers; null: it was not asked yet. */
    readonly isReachable: boolean | null
    /** Announced addresses according to the daemon; null: it cannot be asked. */
    readonly announces: 'all' | 'some' | 'none' | null
    readonly reply: string
    readonly atMs: number | null
  }
  /** The node's query to itself; null: not made yet. */
  readonly selfQuery: {
    readonly address: string
    readonly fault: string | null
    readonly tookMs: number
    readonly atMs: number
  } | null
  /** Looks in a row without an answer. */
  readonly silentLooks: number
  readonly isGuarded: boolean
}

export interface AnycastView {
  /** null: this node announces nothing. */
  readonly status: () => AnnouncedAddresses | null
}
