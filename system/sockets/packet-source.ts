// The interface between a responder and its socket: a source of packets that also sends replies.

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
  /** A copy of the addresses of client and socket, with which `UdpSender` replies later. */
  envelope(slot: number): Uint8Array
  /** Says what to send from a slot; 0: nothing. */
  setReply(slot: number, length: number): void
  /** Sends the replies of the first `count` slots. @returns how many could not be sent */
  send(count: number): number
}
