// Signs rrsets as they are answered: with a signature that was made before, else with a new one.
import { isSigned, nodeFlags, zoneOfNode } from '#bundle/format/bundle.ts'
import type { Bundle } from '#bundle/format/bundle.ts'
import * as cells from '#bundle/format/cells.ts'
import { findStored } from '#bundle/load/find-node.ts'
import * as rrtypes from '#dns/rrtype.ts'
import type { CoveredOctets } from './covered-octets.ts'
import type { DigestMemo } from './digest-memo.ts'
import { labelsAt } from './rrset-digest.ts'
import type { RrsetDigest } from './rrset-digest.ts'
import * as signatures from './signature-table.ts'
import type { SignatureTable } from './signature-table.ts'
import type { SignalNames } from './signal-names.ts'
import { inceptionAt, inceptionBefore, validity } from './signature-times.ts'
import * as seam from './signer.ts'
import type { OpenReply, Signer } from './signer.ts'
import type { SigningKey, ZoneKeySet } from './signing-keys.ts'

// Constants of this file, for the reason that answer.ts gives.
const { NodeFlag } = cells
const { RrType } = rrtypes
const { cannotSign, unknownPart } = seam
const { signatureBytes } = signatures
const { None, Before } = signatures.Found

/** Pointer, type, class, TTL, RDLENGTH. */
const headerBytes = 12
const ttlAt = 6
/** Type, algorithm, labels, TTL, expiration, inception, key tag: RRSIG before the signer's name. */
const rrsigFixedBytes = 18
/** SOA ends with five numbers; the serial is the first. */
const serialFromEnd = 20

/** Shared by all views of a thread. */
interface SignerParts {
  readonly table: SignatureTable
  readonly digest: RrsetDigest
  readonly memo: DigestMemo
  readonly covered: CoveredOctets
  /** null: there are none. */
  readonly signals: SignalNames | null
}

export class ZoneSigner implements Signer {
  readonly hasSignals: boolean
  readonly #bundle: Bundle
  readonly #zones: readonly ZoneKeySet[]
  readonly #table: SignatureTable
  readonly #digest: RrsetDigest
  readonly #memo: DigestMemo
  readonly #covered: CoveredOctets
  /** Its number for the memo. */
  readonly #view: number
  /** By zone: 1 + row in `#zones`. */
  readonly #keysOfZone: Int32Array
  readonly #signals: SignalNames | null
  // The rrset that is being signed: its digest, labels of its owner, and where it is.
  #digest0 = 0
  #digest1 = 0
  #labels = 0
  #owner = 0
  #type = 0
  #start = 0
  #end = 0

  constructor(bundle: Bundle, zones: readonly ZoneKeySet[], parts: SignerParts) {
    const { table, digest, memo, covered, signals } = parts
    this.#bundle = bundle
    this.#zones = zones
    this.#table = table
    this.#digest = digest
    this.#memo = memo
    this.#covered = covered
    this.#view = memo.adopt(bundle.counts.nodes)
    this.#keysOfZone = new Int32Array(bundle.counts.zones)
    for (const [i, { zone }] of zones.entries()) {
      const row = signedZoneNamed(bundle, zone)
      if (row >= 0) this.#keysOfZone[row] = i + 1
    }
    this.#signals = signals
    this.hasSignals = signals !== null
  }

  signalAt(octets: Uint8Array, start: number): number {
    return this.#signals === null ? seam.noSignal : this.#signals.at(octets, start)
  }

  signs(zone: number): boolean {
    return isSigned(this.#bundle, zone)
  }

  keyRdata(zone: number, type: number): readonly Uint8Array[] | undefined {
    return this.#keysOf(zone)?.rdataOf[type]
  }

  #keysOf(zone: number): ZoneKeySet | undefined {
    const row = this.#keysOfZone[zone]!
    return row === 0 ? undefined : this.#zones[row - 1]
  }

  sign(
    to: OpenReply,
    zone: number,
    owner: number,
    type: number,
    start: number,
    node: number,
    part: number,
  ): number {
    const keys = this.#keysOf(zone)
    if (keys === undefined) return this.signs(zone) ? cannotSign : 0
    this.#place(to, owner, type, start)
    if (!this.#identify(to, node, to.isAnyName ? unknownPart : part)) return cannotSign
    // Below name servers they are records like others: RFC 9615.
    const isApex = this.#labels === keys.labels
    return this.#signBy(to, keys, isOfKeys(type) && isApex ? keys.ofKeys : keys.ofRecords)
  }

  signDenial(to: OpenReply, zone: number, owner: number, start: number, name: number): number {
    const keys = this.#keysOf(zone)
    if (keys === undefined) return this.signs(zone) ? cannotSign : 0
    this.#place(to, owner, RrType.NSEC, start)
    const digest = this.#digest
    const { seed0, seed1 } = this.#table
    digest.ofDenial(to, name, to.replyView.getInt32(start + ttlAt), seed0, seed1)
    this.#digest0 = digest.digest0
    this.#digest1 = digest.digest1
    this.#labels = labelsAt(to.qname, name)
    return this.#signBy(to, keys, keys.ofRecords)
  }

  #place(to: OpenReply, owner: number, type: number, start: number): void {
    this.#owner = owner
    this.#type = type
    this.#start = start
    this.#end = to.at
  }

  /**
   * Finds the digest of the rrset, which is remembered where it is known which one it is.
   *
   * @returns false: it is larger than what can be signed here
   */
  #identify(to: OpenReply, node: number, part: number): boolean {
    const { replyView, at } = to
    const type = this.#type
    const ttlSeconds = replyView.getInt32(this.#start + ttlAt)
    const serial = type === RrType.SOA ? replyView.getInt32(at - serialFromEnd) : 0
    const memo = this.#memo
    if (part === unknownPart || !memo.find(this.#view, node, part, type, ttlSeconds, serial)) {
      if (!this.#read(to)) return false
      memo.digest0 = this.#digest.digest0
      memo.digest1 = this.#digest.digest1
      memo.labels = this.#digest.labels()
      if (part !== unknownPart) memo.keep(this.#view, node, part, type, ttlSeconds, serial)
    }
    this.#digest0 = memo.digest0
    this.#digest1 = memo.digest1
    this.#labels = memo.labels
    return true
  }

  #read(to: OpenReply): boolean {
    const { seed0, seed1 } = this.#table
    return this.#digest.read(to, this.#owner, this.#type, this.#start, this.#end, seed0, seed1)
  }

  /** Writes a signature by each key. @returns as `sign` */
  #signBy(to: OpenReply, ofZone: ZoneKeySet, keys: readonly SigningKey[]): number {
    const table = this.#table
    const { isAnyName, replyView } = to
    const digest1 = this.#digest1
    const { nowSeconds } = table
    const inception = inceptionAt(nowSeconds, digest1)
    const before = inceptionBefore(nowSeconds, inception)
    for (let i = 0; i < keys.length; i++) {
      const key = keys[i]!
      const digest0 = this.#digest0 ^ key.salt
      const at = this.#writeHead(to, ofZone, key, inception)
      if (at < 0) return -1
      const found = table.copy(digest0, digest1, inception, before, isAnyName, replyView, at)
      if (found === Before) writeTimes(replyView, at - ofZone.zone.length, before)
      if (found === None) {
        // Truncated, the client comes by TCP, whose connections are bounded.
        if (isAnyName && !to.isOverTcp && !table.takeOne()) return -1
        if (!this.#read(to)) return cannotSign
        const head = at - ofZone.zone.length - rrsigFixedBytes
        const signature = key.sign(this.#covered.of(this.#digest, this.#type, to.reply, head, at))
        for (let octet = 0; octet < signatureBytes; octet++)
          to.reply[at + octet] = signature[octet]!
        table.keep(digest0, digest1, inception, isAnyName, signature)
      }
      to.at = at + signatureBytes
    }
    return keys.length === 0 ? cannotSign : keys.length
  }

  /** An RRSIG record up to its signature. @returns where that begins; -1: it does not fit */
  #writeHead(
    to: OpenReply,
    { zone, zoneWords }: ZoneKeySet,
    key: SigningKey,
    inception: number,
  ): number {
    const { replyView, at } = to
    const start = this.#start
    const rdata = at + headerBytes
    const nameAt = rdata + rrsigFixedBytes
    const end = nameAt + zone.length
    if (end + signatureBytes > to.recordsEnd) return -1
    replyView.setInt32(at, (replyView.getUint16(start) << 16) | RrType.RRSIG)
    replyView.setInt32(at + 4, replyView.getInt32(start + 4))
    replyView.setUint16(at + 8, replyView.getUint16(start + 8))
    replyView.setUint16(at + 10, end + signatureBytes - rdata)
    replyView.setInt32(rdata, (this.#type << 16) | (key.algorithm << 8) | this.#labels)
    replyView.setInt32(rdata + 4, replyView.getInt32(start + ttlAt))
    writeTimes(replyView, nameAt, inception)
    replyView.setUint16(rdata + 16, key.tag)
    // Octets beyond the name are the signature's, which is written next.
    for (let i = 0; i < zoneWords.length; i++) replyView.setInt32(nameAt + i * 4, zoneWords[i]!)
    return end
  }
}

/** The signer of a node that has no key at all. */
export class KeylessSigner implements Signer {
  readonly hasSignals: boolean
  readonly #bundle: Bundle
  readonly #signals: SignalNames | null

  /** @param signals what nodes with the keys tell; left out: nothing */
  constructor(bundle: Bundle, signals: SignalNames | null = null) {
    this.#bundle = bundle
    this.#signals = signals
    this.hasSignals = signals !== null
  }

  signs(zone: number): boolean {
    return isSigned(this.#bundle, zone)
  }

  sign(_to: OpenReply, zone: number): number {
    return isSigned(this.#bundle, zone) ? cannotSign : 0
  }

  signDenial(_to: OpenReply, zone: number): number {
    return isSigned(this.#bundle, zone) ? cannotSign : 0
  }

  keyRdata(): undefined {
    return undefined
  }

  signalAt(octets: Uint8Array, start: number): number {
    return this.#signals === null ? seam.noSignal : this.#signals.at(octets, start)
  }
}

/** Into an RRSIG record. @param nameAt where the name of its zone begins */
function writeTimes(replyView: DataView, nameAt: number, inception: number): void {
  replyView.setInt32(nameAt - expirationFromName, (inception + validity.total) | 0)
  replyView.setInt32(nameAt - inceptionFromName, inception)
}

const expirationFromName = 10
const inceptionFromName = 6

/** Keys sign their own records, and what a parent is to know of them. RFC 7344 section 4.1. */
function isOfKeys(type: number): boolean {
  return type === RrType.DNSKEY || type === RrType.CDS || type === RrType.CDNSKEY
}

/**
 * @param name in lower case
 * @returns its row, or -1: it is no zone here that is to be signed
 */
function signedZoneNamed(bundle: Bundle, name: Uint8Array): number {
  const node = findStored(bundle, name, 0)
  const isZone = node >= 0 && (nodeFlags(bundle, node) & NodeFlag.Signed) !== 0
  return isZone ? zoneOfNode(bundle, node) : -1
}
