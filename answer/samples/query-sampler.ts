// Copies some queries into a ring for another thread, before their memory is reused for answers.
import type { PacketSource } from '#system/sockets/packet-source.ts'
import { ringBytes, RingCell, ringLimits, ringQueryBytesMax, RingSlot } from './query-ring.ts'

// Local constants are faster than imports: see answer.ts.
const { slots, slotBytes, headBytes } = ringLimits
const { Client, ClientBytes, Query, QueryBytes } = RingSlot

/** One per responder; it allocates nothing. */
export class QuerySampler {
  readonly #cells: Int32Array
  readonly #octets: Uint8Array
  /** Mask of the batches to time while nobody reads samples. */
  readonly #usualMask: number
  #written = 0

  /** @param shared undefined: nobody ever reads */
  constructor(shared: SharedArrayBuffer | undefined, usualMask: number) {
    const ring = shared ?? new SharedArrayBuffer(ringBytes)
    this.#cells = new Int32Array(ring, 0, headBytes / 4)
    this.#octets = new Uint8Array(ring)
    this.#usualMask = usualMask
    // A restarted thread continues the ring of the one that died.
    this.#written = Atomics.load(this.#cells, RingCell.Written)
  }

  /**
   * Copies queries as long as there is room.
   *
   * @returns which batches to look at from now on, as a mask of their numbers
   */
  take(source: PacketSource, count: number): number {
    const cells = this.#cells
    if (Atomics.load(cells, RingCell.IsOn) === 0) return this.#usualMask
    const taken = Atomics.load(cells, RingCell.Taken)
    for (let slot = 0; slot < count; slot++) {
      if (((this.#written - taken) | 0) >= slots) break
      this.#copy(source, slot)
    }
    Atomics.store(cells, RingCell.Written, this.#written)
    return Atomics.load(cells, RingCell.BatchMask)
  }

  #copy(source: PacketSource, slot: number): void {
    const length = source.queryLength(slot)
    if (length === 0 || length > ringQueryBytesMax) return
    const octets = this.#octets
    const at = headBytes + (this.#written & (slots - 1)) * slotBytes
    octets[at + QueryBytes] = length >> 8
    octets[at + QueryBytes + 1] = length & 0xff
    octets[at + ClientBytes] = source.clientBytes
    const client = source.clientOffset(slot)
    for (let i = 0; i < source.clientBytes; i++) {
      octets[at + Client + i] = source.clients[client + i]!
    }
    const query = source.slotOffset(slot)
    for (let i = 0; i < length; i++) octets[at + Query + i] = source.buffer[query + i]!
    this.#written = (this.#written + 1) | 0
  }
}
