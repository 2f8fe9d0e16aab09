// Messages that a responder leaves to the stream thread: what travels, and how many at once.
import type { Counters } from '#answer/counters/counters.ts'
import type { PacketSource } from '#system/sockets/packet-source.ts'

/** A message over UDP, on its way from a responder. */
export interface HandedMessage {
  readonly query: Uint8Array
  /** See packet-source.ts. */
  readonly envelope: Uint8Array
  /** 4 or 16 octets. */
  readonly client: Uint8Array
}

/** Messages of all responders, on their way or in work. One more is dropped: clients retry. */
const handedMax = 256

export const handOverBytes = 4

/** Counts what is on its way, for all threads. */
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

  /** Never below 0: one that was on its way at `clear` is counted no more. */
  leave(): void {
    for (let count = Atomics.load(this.#cells, 0); count > 0;) {
      const found = Atomics.compareExchange(this.#cells, 0, count, count - 1)
      if (found === count) return
      count = found
    }
  }

  /** The thread that would have answered what was on its way has died. */
  clear(): void {
    Atomics.store(this.#cells, 0, 0)
  }
}

/** @param post may not wait */
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
