// What a handler may know of a request beyond its checked parts.

export interface RequestFacts {
  /** The client's own, behind trusted proxies too. */
  readonly address: string
  /** It came over TLS, to us or to a trusted proxy. */
  readonly isSecure: boolean
  /** @param name in lower case */
  readonly header: (name: string) => string | undefined
  /** It comes from a page of another site. */
  readonly isOtherOrigin: boolean
  /** A program of this machine sends it, and nobody else through it. */
  readonly isDirectFromHere: () => boolean
  /** It names this machine by a name that others can point here. */
  readonly isRebound: () => boolean
  /** It asks for a WebSocket, and may be answered with 101. */
  readonly isHandshake: boolean
}
