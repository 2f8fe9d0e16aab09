// Prefetches the rows of a range table for the packets of a batch before the first answer, so that
// waits for memory overlap.
import type { RangeTable } from '#routing/tables/range-table.ts'
import type { PacketSource } from '#system/sockets/packet-source.ts'

/**
 * Code 8 and length of a client subnet option with an IPv4 prefix of 24 bits (RFC 7871 section 6).
 */
const subnet24 = 0x0008_0007
const ipv4 = 1
const subnet24Bytes = 11
/** A header, a question for the root, and an OPT record with the option. */
const leastBytes = 39
const packetsMax = 64

/** Prefetches for the next queries of a batch; each thread has its own. */
export class LookAhead {
  readonly #source: PacketSource
  readonly #queries: DataView
  readonly #clients: DataView
  readonly #addresses = new Int32Array(packetsMax)
  /** The sum of all values read: the compiler would remove unused reads. */
  sum = 0

  constructor(source: PacketSource) {
    const { buffer, clients } = source
    this.#source = source
    this.#queries = new DataView(buffer.buffer, buffer.byteOffset, buffer.byteLength)
    this.#clients = new DataView(clients.buffer, clients.byteOffset, clients.byteLength)
  }

  /** @param count packets of the batch */
  read(table: Pick<RangeTable, 'readAhead4'>, count: number): void {
    const addresses = this.#addresses
    const packets = Math.min(count, packetsMax)
    for (let slot = 0; slot < packets; slot++) addresses[slot] = this.#guess(slot)
    this.sum = table.readAhead4(addresses, packets)
  }

  /** The IPv4 address that the answer will probably depend on; a wrong guess only costs time. */
  #guess(slot: number): number {
    const source = this.#source
    const length = source.queryLength(slot)
    const end = source.slotOffset(slot) + length
    if (length >= leastBytes && this.#queries.getInt32(end - subnet24Bytes) === subnet24) {
      const isIpv4 = this.#queries.getInt16(end - subnet24Bytes + 4) === ipv4
      if (isIpv4) return this.#queries.getInt32(end - 4) << 8
    }
    return this.#clients.getInt32(source.clientOffset(slot) + source.clientBytes - 4)
  }
}
