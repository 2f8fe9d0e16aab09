// Defines the interface between responders and the network: sources of packets, which also send
// replies.
import type { Result } from '#lib/result.ts'
import type { Libc } from './libc.ts'

/**
 * A batch is received, each packet is answered in its own slot, and the batch is sent. The octets
 * of slot i start at `slotOffset(i)` in `buffer` and there is room for `slotBytes`, so that an
 * answer can be written over its query.
 */
export interface PacketSource {
  readonly buffer: Uint8Array
  readonly slotBytes: number
  /**
   * Waits for packets, at most about 100 ms.
   *
   * @returns how many slots are filled; 0 when none came
   */
  receive(): number
  slotOffset(slot: number): number
  /** Holds the address that each slot's query came from: `clientBytes` at `clientOffset(slot)`. */
  readonly clients: Uint8Array
  readonly clientBytes: number
  clientOffset(slot: number): number
  /** The port from which the query of a slot came. */
  clientPort(slot: number): number
  /** Octets of the query in a slot; 0 when there is no client to reply to. */
  queryLength(slot: number): number
  /** A copy of the addresses of client and server, with which a `LateSender` replies. */
  envelope(slot: number): Uint8Array
  /** Sets how many octets are sent from a slot; 0: none. */
  setReply(slot: number, length: number): void
  /** Sends the replies of the first `count` slots. @returns how many could not be sent */
  send(count: number): number
}

/** Replies to packets whose batch was sent already. */
export interface LateSender<Place> {
  /**
   * @param place at which the packet arrived
   * @returns false when the reply was not sent
   */
  send(place: Place, envelope: Uint8Array, reply: Uint8Array): boolean
}

export interface SourceWanted {
  readonly listenAddr: string
  /** 0: the system chooses one. */
  readonly port: number
  /** How many threads there will be. */
  readonly threads: number
  /** How many threads get packets from the beginning. */
  readonly boundAtOnce: number
  /** Size of the longest reply that will be written. */
  readonly replyBytesMax: number
  /**
   * Descriptors from another process, which may still read them; empty: every socket is opened
   * anew.
   */
  readonly handed: readonly number[]
}

/** The places where the threads of a node receive packets: at one address and port. */
export interface SourcePlaces<Place> {
  readonly port: number
  /** The threads that get their share of the packets. */
  readonly bound: ReadonlySet<number>
  /**
   * @returns plain data, which can be sent to a thread; the same for a thread that replaces a dead
   * one.
   * @throws
   */
  placeOf(thread: number): Place
  /**
   * Gives a thread its share from now on; packets that arrive before it reads would wait.
   *
   * @throws
   */
  bind(thread: number): void
  /** Descriptors that can be handed to another process, in no order. */
  descriptors(): readonly number[]
  close(): void
}

/** A way to receive and send packets. */
export interface PacketSourceRow<Place> {
  /** Called in the main thread. Errors: a sentence for the operator */
  open(libc: Libc, wanted: SourceWanted): Result<SourcePlaces<Place>, string>
  /** Called in the thread that receives packets at a place. */
  attach(libc: Libc, place: Place): PacketSource
  /** Called in a thread that receives no packets. */
  sender(libc: Libc): LateSender<Place>
}
