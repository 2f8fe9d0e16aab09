// Receives packets behind proxies: removes the PROXY header from each packet, and returns the
// address of the client in place of the proxy's. Replies go to the proxy.
import * as gates from './proxy-gate.ts'
import type { ProxyGate } from './proxy-gate.ts'
import type { PacketSource } from './packet-source.ts'

// A constant of this file, for the reason that answer.ts gives.
const { Refused: refused } = gates.Admission
const clientBytes = 16

/** Wraps another source. Without proxies a thread uses `inner` itself. */
export class ProxySource implements PacketSource {
  readonly buffer: Uint8Array
  readonly slotBytes: number
  readonly clients: Uint8Array
  readonly clientBytes = clientBytes
  readonly #inner: PacketSource
  readonly #gate: ProxyGate
  /** Octets of the query in a slot, without a header; the client's port. */
  readonly #lengths: Uint16Array
  readonly #ports: Uint16Array

  constructor(inner: PacketSource, gate: ProxyGate) {
    this.#inner = inner
    this.#gate = gate
    this.buffer = inner.buffer
    this.slotBytes = inner.slotBytes
    const slots = Math.floor(inner.buffer.length / inner.slotBytes)
    this.clients = new Uint8Array(slots * clientBytes)
    this.#lengths = new Uint16Array(slots)
    this.#ports = new Uint16Array(slots)
  }

  receive(): number {
    const count = this.#inner.receive()
    for (let slot = 0; slot < count; slot++) this.#open(slot)
    return count
  }

  #open(slot: number): void {
    const inner = this.#inner
    const length = inner.queryLength(slot)
    const sender = inner.clientOffset(slot)
    const isProxy = this.#gate.isProxy(inner.clients, sender, inner.clientBytes)
    const start = inner.slotOffset(slot)
    const end = start + length
    const taken = length === 0 ? 0 : this.#gate.admitDatagram(this.buffer, start, end, isProxy)
    if (taken > 0 && this.#gate.header.isClient) {
      this.#setClient(slot, this.#gate.header.address, 0, clientBytes)
      this.#ports[slot] = this.#gate.header.port
    } else {
      this.#setClient(slot, inner.clients, sender, inner.clientBytes)
      this.#ports[slot] = inner.clientPort(slot)
    }
    this.#lengths[slot] = taken === refused ? 0 : length - taken
    // The reply is sent from the beginning of the slot, so it is copied there.
    if (taken > 0) this.buffer.copyWithin(start, start + taken, end)
  }

  /** @param bytes 4 or 16 */
  #setClient(slot: number, octets: Uint8Array, at: number, bytes: number): void {
    const { clients } = this
    const to = slot * clientBytes
    const mapped = clientBytes - bytes
    for (let i = 0; i < mapped; i++) clients[to + i] = i < 10 ? 0 : 0xff
    for (let i = 0; i < bytes; i++) clients[to + mapped + i] = octets[at + i]!
  }

  slotOffset(slot: number): number {
    return this.#inner.slotOffset(slot)
  }

  clientOffset(slot: number): number {
    return slot * clientBytes
  }

  clientPort(slot: number): number {
    return this.#ports[slot]!
  }

  queryLength(slot: number): number {
    return this.#lengths[slot]!
  }

  envelope(slot: number): Uint8Array {
    return this.#inner.envelope(slot)
  }

  setReply(slot: number, length: number): void {
    this.#inner.setReply(slot, length)
  }

  send(count: number): number {
    return this.#inner.send(count)
  }
}
