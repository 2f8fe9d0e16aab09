// What the feed needs of a connection.

export interface FeedSocket {
  /** Handed over and not yet with the operating system. */
  readonly bufferedBytes: () => number
  /** @param sent called once the operating system has it, or never */
  readonly send: (message: Buffer, sent: () => void) => void
  readonly ping: () => void
  /** Asks the client to close. */
  readonly close: (code: number, reason: string) => void
  readonly terminate: () => void
  readonly onClosed: (handler: () => void) => void
  /** Told of each message, ping and pong that comes in. */
  readonly onReceived: (handler: () => void) => void
}
