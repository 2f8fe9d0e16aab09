// Replies over TLS that wait for the end of a turn of the event loop: what a client asks in many
// records is answered in one, by one write.

/** More than so much of one connection does not wait. */
const gatheredBytesMax = 16_384

/** What has something to write at the end of this turn. */
export interface TurnWriter {
  readonly endTurn: () => void
}

/** The connections that wait, in the order in which they came. */
export class TurnEnd {
  #waiting: TurnWriter[] = []

  add(writer: TurnWriter): void {
    if (this.#waiting.push(writer) === 1) setImmediate(() => this.#end())
  }

  #end(): void {
    const waiting = this.#waiting
    this.#waiting = []
    for (const writer of waiting) writer.endTurn()
  }
}

/** The replies of one connection that wait. */
export class GatheredReplies {
  #parts: Buffer[] = []
  #bytes = 0

  get isEmpty(): boolean {
    return this.#bytes === 0
  }

  hasRoomFor(bytes: number): boolean {
    return this.#bytes + bytes <= gatheredBytesMax
  }

  /** Copies them: a batch has 64 KiB, and as many clients wait as ask within a turn. */
  add(replies: Uint8Array): void {
    this.#parts.push(Buffer.from(replies))
    this.#bytes += replies.length
  }

  /** @returns all that wait, of which none waits from now on */
  take(): Buffer {
    const [first] = this.#parts
    const all = first !== undefined && this.#parts.length === 1 ? first : Buffer.concat(this.#parts)
    this.#parts = []
    this.#bytes = 0
    return all
  }
}
