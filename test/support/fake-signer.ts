// A signer without keys, whose signatures are checksums, with a cache for them.
import { noSignal } from '#answer/signing/signer.ts'
import type { OpenReply, Signer } from '#answer/signing/signer.ts'

const rrsigType = 46
/** Pointer, type, class, TTL, RDLENGTH. */
const headerBytes = 12
const signedBytesMax = 4_096
const rdataBytesMax = 512
/** Octets before the signer's name (RFC 4034 section 3.1); a checksum follows it. */
const fixedBytes = 18
const checksumBytes = 4
/** RFC 4034 appendix A.1: private use, by name. */
const privateAlgorithm = 253

/** Remembers as many signatures as it has slots; one more replaces another. */
export class SlotCache {
  readonly octets: Uint8Array
  readonly #slots: number
  readonly #keys: Uint8Array
  readonly #keyBytes: Uint16Array
  found = 0

  constructor(slots: number) {
    this.#slots = slots
    this.octets = new Uint8Array(slots * rdataBytesMax)
    this.#keys = new Uint8Array(slots * signedBytesMax)
    this.#keyBytes = new Uint16Array(slots)
  }

  find(signed: Uint8Array, bytes: number): number {
    const slot = checksum(signed, bytes) % this.#slots
    if (this.#keyBytes[slot] !== bytes) return -1
    const key = slot * signedBytesMax
    for (let i = 0; i < bytes; i++) if (this.#keys[key + i] !== signed[i]) return -1
    this.found++
    return slot * rdataBytesMax
  }

  keep(signed: Uint8Array, bytes: number, signature: Uint8Array): number {
    const slot = checksum(signed, bytes) % this.#slots
    const key = slot * signedBytesMax
    this.#keyBytes[slot] = bytes
    for (let i = 0; i < bytes; i++) this.#keys[key + i] = signed[i]!
    const at = slot * rdataBytesMax
    for (let i = 0; i < signature.length; i++) this.octets[at + i] = signature[i]!
    return at
  }
}

function checksum(octets: Uint8Array, bytes: number): number {
  let sum = bytes
  for (let i = 0; i < bytes; i++) sum = Math.imul(sum ^ octets[i]!, 0x0100_0193)
  return (sum ^ (sum >>> 15)) & 0x3fff_ffff
}

/** Signs one zone. */
export class FakeSigner implements Signer {
  readonly #zone: number
  readonly #name: Uint8Array
  readonly #cache: SlotCache
  readonly #signed = new Uint8Array(signedBytesMax)
  readonly #rdata = new Uint8Array(rdataBytesMax)

  /** @param name of the zone, in wire form */
  constructor(zone: number, name: Uint8Array, cache: SlotCache) {
    this.#zone = zone
    this.#name = name
    this.#cache = cache
  }

  /** Leaves denials unsigned: proofs are tested elsewhere. */
  signs(): boolean {
    return false
  }

  keyRdata(): undefined {
    return undefined
  }

  readonly hasSignals = false

  signalAt(): number {
    return noSignal
  }

  signDenial(): number {
    return 0
  }

  sign(to: OpenReply, zone: number, owner: number, type: number, start: number): number {
    if (zone !== this.#zone) return 0
    const { reply, replyView } = to
    const ttlSeconds = replyView.getUint32(start + 6)
    const rdataBytes = fixedBytes + this.#name.length + checksumBytes
    if (to.at + headerBytes + rdataBytes > to.recordsEnd) return -1
    const bytes = this.#cover(to, owner, start)
    let from = this.#cache.find(this.#signed, bytes)
    if (from < 0) {
      this.#make(type, ttlSeconds, checksum(this.#signed, bytes), rdataBytes)
      from = this.#cache.keep(this.#signed, bytes, this.#rdata)
    }
    for (let i = 0; i < headerBytes; i++) reply[to.at + i] = reply[start + i]!
    replyView.setUint16(to.at + 2, rrsigType)
    replyView.setUint16(to.at + 10, rdataBytes)
    to.at += headerBytes
    for (let i = 0; i < rdataBytes; i++) reply[to.at + i] = this.#cache.octets[from + i]!
    to.at += rdataBytes
    return 1
  }

  /** Copies the owner's name, then the records. @returns octets in `#signed` */
  #cover(
    { reply, replyView, replyStart, at: end }: OpenReply,
    owner: number,
    start: number,
  ): number {
    const signed = this.#signed
    let bytes = 0
    let name = replyStart + owner
    while (reply[name] !== 0) {
      if (reply[name]! >= 0xc0) name = replyStart + (replyView.getUint16(name) & 0x3fff)
      else for (let left = reply[name]!; left >= 0; left--) signed[bytes++] = reply[name++]!
    }
    for (let at = start; at < end;) {
      const next = at + headerBytes + replyView.getUint16(at + 10)
      for (let i = at + 2; i < next; i++) signed[bytes++] = reply[i]!
      at = next
    }
    return bytes
  }

  #make(type: number, ttlSeconds: number, sum: number, rdataBytes: number): void {
    const rdata = this.#rdata
    rdata.fill(0)
    put(rdata, 0, type, 2)
    rdata[2] = privateAlgorithm
    put(rdata, 4, ttlSeconds, 4)
    for (let i = 0; i < this.#name.length; i++) rdata[fixedBytes + i] = this.#name[i]!
    put(rdata, rdataBytes - checksumBytes, sum, checksumBytes)
  }
}

function put(octets: Uint8Array, at: number, value: number, bytes: number): void {
  for (let i = 0; i < bytes; i++) octets[at + i] = (value >>> ((bytes - 1 - i) * 8)) & 0xff
}
