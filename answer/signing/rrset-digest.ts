// Reads an rrset out of a reply that is being written, in the form that is signed, and identifies
// it by a digest that outsiders cannot predict: HalfSipHash-1-3, of 64 bits.
import * as rrsetFormat from '#bundle/format/rrsets.ts'
import { foldTable } from '#dns/name.ts'
import type { OpenReply } from './signer.ts'

// Constants of this file, for the reason that answer.ts gives.
const { FormBit, formBits } = rrsetFormat

/** Octets of an rrset with names in full. A message of 64 KiB of long names may exceed it. */
const octetsMax = 262_144
const recordsMax = 8_192
/** Offset of the owner in `octets`, after two words. */
export const ownerAt = 8
/** Pointer, type, class, TTL, RDLENGTH. */
const headerBytes = 12
const ttlAt = 6
/** Digests of denials begin with this instead of a type: no type has so large a number. */
const denialMark = 0x1_0000
/** The most pointers in a row: each leads further to the front of the message. */
const pointersMax = 128

export class RrsetDigest {
  /** The owner in lower case, then records: two octets of length, and rdata. Zeros fill words. */
  readonly octets = new Uint8Array(octetsMax)
  readonly #words = new Int32Array(this.octets.buffer)
  readonly #out = new Int32Array(2)
  /** Where each record begins in `octets`. */
  readonly recordAt = new Uint32Array(recordsMax)
  recordCount = 0
  ownerBytes = 0
  ttlSeconds = 0
  digest0 = 0
  digest1 = 0
  /** Octets in `octets`; -1: they are too many. */
  #end = 0

  /**
   * @param start of its first record in the reply
   * @param end of the last one
   * @returns false: it is larger than what can be signed here
   */
  read(
    to: OpenReply,
    owner: number,
    type: number,
    start: number,
    end: number,
    seed0: number,
    seed1: number,
  ): boolean {
    const { replyView } = to
    this.#end = ownerAt
    this.#copyName(to, to.replyStart + owner)
    this.ownerBytes = this.#end - ownerAt
    this.#fill()
    this.ttlSeconds = replyView.getUint32(start + ttlAt)
    this.#words[0] = type
    this.#words[1] = this.ttlSeconds
    this.recordCount = 0
    for (let at = start; at < end;) {
      const rdataEnd = at + headerBytes + replyView.getUint16(at + 10)
      if (this.recordCount === recordsMax) return false
      if (!this.#copyRecord(to, type, at + headerBytes, rdataEnd)) return false
      at = rdataEnd
    }
    this.#digest(seed0, seed1)
    return true
  }

  /**
   * The digest of an NSEC record of a compact denial, which is known by its owner, its types and
   * its TTL. Nothing is read of it.
   *
   * @param name where the owner begins in `to.qname`
   */
  ofDenial(to: OpenReply, name: number, ttl: number, seed0: number, seed1: number): void {
    const { qname, qnameWords } = to
    const { types, count } = to.nameTypes
    const words = this.#words
    words[0] = denialMark | name
    words[1] = ttl
    let head = 0
    let at = name
    for (; (at & 3) !== 0; at++) head = (head << 8) | qname[at]!
    words[2] = head
    let end = 3
    for (let word = at >> 2; word < qnameWords.length; word++) words[end++] = qnameWords[word]!
    for (let i = 0; i < count; i++) words[end++] = types[i]!
    halfSipHash(words, 0, end, seed0, seed1, this.#out)
    this.digest0 = this.#out[0]!
    this.digest1 = this.#out[1]!
  }

  #copyRecord(to: OpenReply, type: number, start: number, end: number): boolean {
    const { reply } = to
    const { octets } = this
    const from = this.#end
    // Two names at most, in full.
    if (from + end - start + 512 > octetsMax) return false
    this.recordAt[this.recordCount++] = from
    this.#end += 2
    const form = formBits[type]!
    let at = start
    if (form !== 0) {
      const name = at + (form & FormBit.BeforeMask)
      while (at < name) octets[this.#end++] = reply[at++]!
      at = this.#copyName(to, at)
      if ((form & FormBit.Soa) !== 0) at = this.#copyName(to, at)
    }
    while (at < end) octets[this.#end++] = reply[at++]!
    const bytes = this.#end - from - 2
    octets[from] = bytes >> 8
    octets[from + 1] = bytes & 0xff
    this.#fill()
    return true
  }

  /** In lower case. @returns where it ends in the reply */
  #copyName({ reply, replyStart }: OpenReply, start: number): number {
    const { octets } = this
    let at = start
    let behind = -1
    for (let pointers = 0; pointers <= pointersMax;) {
      const length = reply[at]!
      if (length >= 0xc0) {
        if (behind < 0) behind = at + 2
        at = replyStart + (((length & 0x3f) << 8) | reply[at + 1]!)
        pointers++
        continue
      }
      for (let i = 0; i <= length; i++) octets[this.#end++] = foldTable[reply[at + i]!]!
      at += length + 1
      if (length === 0) break
    }
    return behind < 0 ? at : behind
  }

  /** RFC 4034 section 3.1.3: neither the root nor a leading asterisk counts. */
  labels(): number {
    return labelsAt(this.octets, ownerAt)
  }

  #fill(): void {
    while ((this.#end & 3) !== 0) this.octets[this.#end++] = 0
  }

  /** Where there are several records, each is digested by itself: their order does not matter. */
  #digest(seed0: number, seed1: number): void {
    const out = this.#out
    const all = this.#end >> 2
    if (this.recordCount === 1) {
      halfSipHash(this.#words, 0, all, seed0, seed1, out)
      this.digest0 = out[0]!
      this.digest1 = out[1]!
      return
    }
    halfSipHash(this.#words, 0, this.recordAt[0]! >> 2, seed0, seed1, out)
    let sum0 = out[0]!
    let sum1 = out[1]!
    for (let i = 0; i < this.recordCount; i++) {
      const from = this.recordAt[i]! >> 2
      const to = i + 1 < this.recordCount ? this.recordAt[i + 1]! >> 2 : all
      halfSipHash(this.#words, from, to, seed1, seed0, out)
      sum0 = (sum0 + out[0]!) | 0
      sum1 = (sum1 + out[1]!) | 0
    }
    this.digest0 = sum0
    this.digest1 = sum1
  }
}

/** RFC 4034 section 3.1.3, for the name that begins at `start`. */
export function labelsAt(octets: Uint8Array, start: number): number {
  let labels = octets[start] === 1 && octets[start + 1] === 0x2a ? -1 : 0
  for (let at = start; octets[at] !== 0; at += octets[at]! + 1) labels++
  return labels
}

/** Rounds: one for each word and for their count, three before each half of the result. */
function halfSipHash(
  words: Int32Array,
  from: number,
  to: number,
  key0: number,
  key1: number,
  out: Int32Array,
): void {
  let v0 = key0
  let v1 = key1 ^ 0xee
  let v2 = key0 ^ 0x6c79_6765
  let v3 = key1 ^ 0x7465_6462
  const count = to - from
  for (let i = 0; i < count + 7; i++) {
    const word = i < count ? words[from + i]! : i === count ? count : 0
    if (i === count + 1) v2 ^= 0xee
    if (i === count + 4) {
      out[0] = v1 ^ v3
      v1 ^= 0xdd
    }
    v3 ^= word
    v0 = (v0 + v1) | 0
    v1 = ((v1 << 5) | (v1 >>> 27)) ^ v0
    v0 = (v0 << 16) | (v0 >>> 16)
    v2 = (v2 + v3) | 0
    v3 = ((v3 << 8) | (v3 >>> 24)) ^ v2
    v0 = (v0 + v3) | 0
    v3 = ((v3 << 7) | (v3 >>> 25)) ^ v0
    v2 = (v2 + v1) | 0
    v1 = ((v1 << 13) | (v1 >>> 19)) ^ v2
    v2 = (v2 << 16) | (v2 >>> 16)
    v0 ^= word
  }
  out[1] = v1 ^ v3
}
