// Messages that a responder hands over to the stream thread, and their limit.
import type { Counters } from '#answer/counters/counters.ts'
import type { PacketSource } from '#system/sockets/packet-source.ts'

/** A UDP message sent from a responder to the stream thread. */
export interface HandedMessage {
  readonly query: Uint8Array
  /** See packet-source.ts. */
  readonly envelope: Uint8Array
  /** 4 or 16 octets. */
  readonly client: Uint8Array
}

/** Messages of all responders queued or in work. Further ones are dropped: clients retry. */
const handedMax = 256

export const handOverBytes = 4

/** Counts the handed-over messages of all threads. */
export class HandOverGate {
  readonly #cells: Int32Array

  constructor(shared: SharedArrayBuffer) {
    this.#cells = new Int32Array(shared)
  }

  /** @returns false when there are too many */
  enter(): boolean {
    if (Atomics.add(this.#cells, 0, 1) < handedMax) return true
    this.leave()
    return false
  }

  /** Never below 0: messages under way at `clear` are not counted any more. */
  leave(): void {
    for (let count = Atomics.load(this.#cells, 0); count > 0;) {
      const found = Atomics.compareExchange(this.#cells, 0, count, count - 1)
      if (found === count) return
      count = found
    }
  }

  /** The thread that would have answered the queued messages has died. */
  clear(): void {
    Atomics.store(this.#cells, 0, 0)
  }
}

/** @param post must not wait */
export function createHandOver(
  gate: HandOverGate,
  counters: Counters,
  post: (message: HandedMessage) => void,
): (source: PacketSource, slot: number) => void {
  return (source, slot) => {
    if (!gate.enter()) {
      counters.drop()
      return
    }
    const { buffer, clients, clientBytes } = source
    const from = source.slotOffset(slot)
    const client = source.clientOffset(slot)
    post({
      query: buffer.slice(from, from + source.queryLength(slot)),
      envelope: source.envelope(slot),
      client: clients.slice(client, client + clientBytes),
    })
  }
}
