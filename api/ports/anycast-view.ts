// The port to the addresses that this node announces by BGP.

export interface AnnouncedAddresses {
  readonly daemon: string
  readonly addresses: readonly string[]
  readonly isAnnounced: boolean
  readonly sinceMs: number
  /** A word; null: they are announced. */
  readonly reason: string | null
  readonly holdDownLeftMs: number
  readonly driver: {
    /** null: nothing was said to it yet. */
    readonly isReachable: boolean | null
    /** null: it cannot be asked. */
    readonly announces: 'all' | 'some' | 'none' | null
    readonly reply: string
    readonly atMs: number | null
  }
  /** null: not asked yet. */
  readonly selfQuery: {
    readonly address: string
    readonly fault: string | null
    readonly tookMs: number
    readonly atMs: number
  } | null
  /** In a row. */
  readonly silentLooks: number
  readonly isGuarded: boolean
}

export interface AnycastView {
  /** null: this node announces nothing. */
  readonly status: () => AnnouncedAddresses | null
}
