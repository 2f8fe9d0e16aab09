// The interface between responders and the network: sources of packets, which also send replies.
import type { Result } from '#lib/result.ts'
import type { Libc } from './libc.ts'

/**
 * A batch is received, each packet is answered in its own slot, the batch is sent. The octets of
 * slot i start at `slotOffset(i)` in `buffer` and there is room for `slotBytes`, so that an answer
 * can be written over its query.
 */
export interface PacketSource {
  readonly buffer: Uint8Array
  readonly slotBytes: number
  /** Waits for packets, at most about 100 ms. @returns how many slots are filled; 0: none came */
  receive(): number
  slotOffset(slot: number): number
  /** Holds the address that each slot's query came from: `clientBytes` at `clientOffset(slot)`. */
  readonly clients: Uint8Array
  readonly clientBytes: number
  clientOffset(slot: number): number
  /** The port that it came from. */
  clientPort(slot: number): number
  /** Octets of the query in a slot; 0 when there is nobody to reply to. */
  queryLength(slot: number): number
  /** A copy of the addresses of client and server, with which a `LateSender` replies. */
  envelope(slot: number): Uint8Array
  /** Says what to send from a slot; 0: nothing. */
  setReply(slot: number, length: number): void
  /** Sends the replies of the first `count` slots. @returns how many could not be sent */
  send(count: number): number
}

/** Replies to packets whose batch is gone. */
export interface LateSender<Place> {
  /**
   * @param place that the packet came to
   * @returns false when it was not sent
   */
  send(place: Place, envelope: Uint8Array, reply: Uint8Array): boolean
}

export interface SourceWanted {
  readonly listenAddr: string
  /** 0: the system chooses one. */
  readonly port: number
  /** How many threads there will be. */
  readonly threads: number
  /** How many of them get packets from the beginning. */
  readonly boundAtOnce: number
  /** The longest reply that will be written. */
  readonly replyBytesMax: number
  /** What another process hands over, which may still read it; none: all is opened anew. */
  readonly handed: readonly number[]
}

/** Where the threads of a node take their packets: at one address and port. */
export interface SourcePlaces<Place> {
  readonly port: number
  /** The threads that get their share of the packets. */
  readonly bound: ReadonlySet<number>
  /** @returns plain data, which travels; the same for a thread that follows a dead one. @throws */
  placeOf(thread: number): Place
  /** Gives a thread its share from now on: what arrived before it reads would wait. @throws */
  bind(thread: number): void
  /** What can be handed to another process, in no order. */
  descriptors(): readonly number[]
  close(): void
}

/** A way in which packets come and go. */
export interface PacketSourceRow<Place> {
  /** In the main thread. Errors: a sentence for the operator */
  open(libc: Libc, wanted: SourceWanted): Result<SourcePlaces<Place>, string>
  /** In the thread that takes packets at a place. */
  attach(libc: Libc, place: Place): PacketSource
  /** In a thread that takes none. */
  sender(libc: Libc): LateSender<Place>
}
