// Defines a reply that is not written at once: it has several messages, or comes later.

export interface LongReply {
  /**
   * Writes the next message; called when the client has taken the one before.
   *
   * @param into 65,535 octets
   * @returns octets of the message; 0: there are no more; -1: the connection must be cut off
   */
  readonly next: (into: Uint8Array) => number | Promise<number>
  /** Called once: everything is written, or the client is gone. */
  readonly end: () => void
}
