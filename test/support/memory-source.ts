// A packet source without sockets: places of a port in memory, and clients beside them.
import { err, ok } from '#lib/result.ts'
import type { PacketSource, PacketSourceRow } from '#system/sockets/packet-source.ts'

const slotBytes = 2_048
const slots = 64
const clientBytes = 4
const clientPort = 5_353
const firstPort = 40_000
const unbound = 0

interface Packet {
  readonly octets: Buffer
  /** Number of a client: the last octet of its address. -1: a test writes the address itself. */
  readonly client: number
}

/** Packets waiting at a place, in batches, and packets sent from there. */
class PacketQueue {
  readonly batches: Packet[][] = []
  readonly sent: Packet[] = []
  port = unbound
  holders = 1
}

/** Yields batches of queries. @param atEnd called after the last one */
export function listSource(
  batches: readonly (readonly Buffer[])[],
  atEnd: () => void = () => undefined,
): MemorySource {
  const queue = new PacketQueue()
  queue.batches.push(...batches.map((batch) => batch.map((octets) => ({ octets, client: -1 }))))
  return new MemorySource(queue, atEnd)
}

class MemorySource implements PacketSource {
  readonly buffer = new Uint8Array(slots * slotBytes)
  readonly slotBytes = slotBytes
  readonly clients = new Uint8Array(slots * clientBytes)
  readonly clientBytes = clientBytes
  readonly #queue: PacketQueue
  readonly #atEnd: () => void
  #packets: readonly Packet[] = []
  readonly #replyBytes = new Uint16Array(slots)

  constructor(queue: PacketQueue, atEnd: () => void = () => undefined) {
    this.#queue = queue
    this.#atEnd = atEnd
  }

  get sent(): readonly Buffer[] {
    return this.#queue.sent.map(({ octets }) => octets)
  }

  receive(): number {
    const next = this.#queue.batches.shift()
    if (next === undefined) this.#atEnd()
    this.#packets = next ?? []
    for (const [slot, { octets, client }] of this.#packets.entries()) {
      this.buffer.set(octets, this.slotOffset(slot))
      if (client >= 0) this.clients.set([127, 0, 0, client], this.clientOffset(slot))
    }
    return this.#packets.length
  }

  slotOffset(slot: number): number {
    return slot * slotBytes
  }

  clientOffset(slot: number): number {
    return slot * clientBytes
  }

  clientPort(): number {
    return clientPort
  }

  queryLength(slot: number): number {
    return this.#packets[slot]!.octets.length
  }

  envelope(slot: number): Uint8Array {
    return Uint8Array.of(this.#packets[slot]!.client)
  }

  setReply(slot: number, length: number): void {
    this.#replyBytes[slot] = length
  }

  send(count: number): number {
    for (const [slot, { client }] of this.#packets.slice(0, count).entries()) {
      const at = this.slotOffset(slot)
      const octets = Buffer.from(this.buffer.subarray(at, at + this.#replyBytes[slot]!))
      if (octets.length > 0) this.#queue.sent.push({ octets, client })
    }
    return 0
  }
}

interface MemoryPlace {
  readonly descriptor: number
}

/**
 * The ports of one machine. A descriptor is the number of a queue; a closed queue has no holder.
 */
export class MemoryMachine {
  readonly #queues: PacketQueue[] = []
  #turn = 0

  readonly row: PacketSourceRow<MemoryPlace> = {
    open: (_libc, { port: wanted, threads, boundAtOnce, handed }) => {
      const port =
        this.#queues[handed[0] ?? -1]?.port ?? (wanted || firstPort + this.#queues.length)
      if (handed.length === 0 && this.#at(port).length > 0) return err(`port ${port} is taken`)
      for (const left of handed.slice(threads)) this.#queues[left]!.holders--
      const descriptors = handed.slice(0, threads)
      while (descriptors.length < boundAtOnce && handed.length === 0)
        descriptors.push(this.#add(port))
      const bound = new Set(descriptors.keys())
      const descriptorOf = (thread: number): number => (descriptors[thread] ??= this.#add(unbound))
      return ok({
        port,
        bound,
        placeOf: (thread) => ({ descriptor: descriptorOf(thread) }),
        bind: (thread) => {
          this.#queues[descriptorOf(thread)]!.port = port
          bound.add(thread)
        },
        descriptors: () => [...bound].map(descriptorOf),
        close: () => {
          for (const descriptor of descriptors.splice(0)) this.#queues[descriptor]!.holders--
          bound.clear()
        },
      })
    },
    attach: (_libc, { descriptor }) => new MemorySource(this.#queues[descriptor]!),
    sender: () => ({
      send: ({ descriptor }, envelope, reply) => {
        const sent = { octets: Buffer.from(reply), client: envelope[0]! }
        return this.#queues[descriptor]!.sent.push(sent) > 0
      },
    }),
  }

  #add(port: number): number {
    const queue = new PacketQueue()
    queue.port = port
    return this.#queues.push(queue) - 1
  }

  #at(port: number): PacketQueue[] {
    return this.#queues.filter((queue) => queue.port === port && queue.holders > 0)
  }

  /** Acts like dup(2). */
  copy(descriptor: number): number {
    this.#queues[descriptor]!.holders++
    return descriptor
  }

  /** Distributes packets among the bound queues in turn. */
  deliver(port: number, client: number, octets: Buffer): void {
    const queues = this.#at(port)
    queues[this.#turn++ % queues.length]!.batches.push([{ octets, client }])
  }

  sentTo(client: number): readonly string[] {
    const all = this.#queues.flatMap(({ sent }) => sent)
    return all.flatMap((one) => (one.client === client ? [one.octets.toString()] : []))
  }
}
