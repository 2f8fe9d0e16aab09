// Defines what the feed needs of a connection.

export interface FeedSocket {
  /** Octets that the operating system has not taken yet. */
  readonly bufferedBytes: () => number
  /** @param sent called when the operating system has it, or never */
  readonly send: (message: Buffer, sent: () => void) => void
  readonly ping: () => void
  /** Asks the client to close. */
  readonly close: (code: number, reason: string) => void
  readonly terminate: () => void
  readonly onClosed: (handler: () => void) => void
  /** Called for each message, ping and pong that arrives. */
  readonly onReceived: (handler: () => void) => void
}
