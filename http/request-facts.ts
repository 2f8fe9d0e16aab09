// Defines what a handler may know of a request beyond its checked parts.

export interface RequestFacts {
  /** Address of the client, also behind trusted proxies. */
  readonly address: string
  /** True: it came over TLS, to this server or to a trusted proxy. */
  readonly isSecure: boolean
  /** @param name in lower case */
  readonly header: (name: string) => string | undefined
  /** True: a page of another site sent it. */
  readonly isOtherOrigin: boolean
  /** Whether a program of this machine sends it for itself. */
  readonly isDirectFromHere: () => boolean
  /** Whether its host is a name that others can point at this machine. */
  readonly isRebound: () => boolean
  /** True: it asks for a WebSocket, and may be answered with 101. */
  readonly isHandshake: boolean
}
