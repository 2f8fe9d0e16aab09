// Signs rrsets as they are answered: with a signature that was made before, else with a new one.
import { nodeFlags, zoneOfNode } from '#bundle/format/bundle.ts'
import type { Bundle } from '#bundle/format/bundle.ts'
import * as cells from '#bundle/format/cells.ts'
import { hashName, sameOctets } from '#dns/name.ts'
import { labelsOf, rrsigFixedBytes, signRrset } from '#dns/dnssec/rrsig.ts'
import * as rrtypes from '#dns/rrtype.ts'
import type { RrsetDigest } from './rrset-digest.ts'
import { signatureBytes } from './signature-table.ts'
import type { SignatureTable } from './signature-table.ts'
import * as seam from './signer.ts'
import type { OpenReply, Signer } from './signer.ts'
import type { SigningKey, ZoneKeySet } from './signing-keys.ts'

// Constants of this file, for the reason that answer.ts gives.
const { NodeCell, NodeFlag } = cells
const { RrType } = rrtypes
const { cannotSign } = seam

/**
 * Seconds. The time is cut into periods, which begin at another moment for each rrset, so that not
 * all signatures are made anew at once; those of one period are valid from before its beginning.
 */
export const validity = {
  /** For clients whose clock is late. */
  backdated: 3_600,
  period: 259_200,
  /** RFC 6781 section 4.4.2 has days in mind: nearly 4 of them are left at a period's end. */
  total: 604_800,
} as const

const headerBytes = 12

export class ZoneSigner implements Signer {
  readonly #bundle: Bundle
  readonly #zones: readonly ZoneKeySet[]
  readonly #table: SignatureTable
  readonly #digest: RrsetDigest
  /** By zone: 1 + row in `#zones`. */
  readonly #keysOfZone: Int32Array

  constructor(
    bundle: Bundle,
    zones: readonly ZoneKeySet[],
    table: SignatureTable,
    digest: RrsetDigest,
  ) {
    this.#bundle = bundle
    this.#zones = zones
    this.#table = table
    this.#digest = digest
    this.#keysOfZone = new Int32Array(bundle.counts.zones)
    for (const [i, { zone }] of zones.entries()) {
      const row = signedZoneNamed(bundle, zone)
      if (row >= 0) this.#keysOfZone[row] = i + 1
    }
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

  sign(to: OpenReply, zone: number, owner: number, type: number, start: number): number {
    if (!this.signs(zone)) return 0
    const ofZone = this.#keysOf(zone)
    if (ofZone === undefined) return cannotSign
    const keys = isOfKeys(type) ? ofZone.ofKeys : ofZone.ofRecords
    if (keys.length === 0) return cannotSign
    const table = this.#table
    const digest = this.#digest
    if (!digest.read(to, owner, type, start, table.seed0, table.seed1)) return cannotSign
    for (let i = 0; i < keys.length; i++) {
      if (!this.#signBy(to, ofZone.zone, keys[i]!, type, start)) return -1
    }
    return keys.length
  }

  /** Writes one RRSIG record of what was read. @returns false: it does not fit */
  #signBy(to: OpenReply, zone: Uint8Array, key: SigningKey, type: number, start: number): boolean {
    const rdataBytes = rrsigFixedBytes + zone.length + signatureBytes
    if (to.at + headerBytes + rdataBytes > to.recordsEnd) return false
    const table = this.#table
    const digest1 = this.#digest.digest1
    const digest0 = this.#digest.digest0 ^ key.salt
    const inception = inceptionAt(table.nowSeconds, digest1)
    if (!table.find(digest0, digest1, inception, to.isAnyName)) {
      // Truncated, the client comes by TCP, whose connections are bounded.
      if (to.isAnyName && !to.isOverTcp && !table.takeOne()) return false
      this.#make(zone, key, type, inception)
      table.keep(digest0, digest1, inception, to.isAnyName)
    }
    this.#write(to, zone, key, type, start, inception)
    return true
  }

  #write(
    to: OpenReply,
    zone: Uint8Array,
    key: SigningKey,
    type: number,
    start: number,
    inception: number,
  ): void {
    const { reply, replyView, at } = to
    const { octets } = this.#table
    replyView.setInt32(at, replyView.getInt32(start))
    replyView.setUint16(at + 2, RrType.RRSIG)
    replyView.setInt32(at + 4, replyView.getInt32(start + 4))
    replyView.setInt32(at + 8, replyView.getInt32(start + 8))
    replyView.setUint16(at + 10, rrsigFixedBytes + zone.length + signatureBytes)
    const rdata = at + headerBytes
    replyView.setUint16(rdata, type)
    reply[rdata + 2] = key.algorithm
    reply[rdata + 3] = this.#labels()
    replyView.setUint32(rdata + 4, this.#digest.ttlSeconds)
    replyView.setInt32(rdata + 8, (inception + validity.total) | 0)
    replyView.setInt32(rdata + 12, inception)
    replyView.setUint16(rdata + 16, key.tag)
    let end = rdata + rrsigFixedBytes
    for (let i = 0; i < zone.length; i++) reply[end++] = zone[i]!
    for (let i = 0; i < signatureBytes; i++) reply[end++] = octets[i]!
    to.at = end
  }

  /** RFC 4034 section 3.1.3: neither the root nor a leading asterisk counts. */
  #labels(): number {
    const { octets } = this.#digest
    let labels = octets[nameAt] === 1 && octets[nameAt + 1] === 0x2a ? -1 : 0
    for (let at = nameAt; octets[at] !== 0; at += octets[at]! + 1) labels++
    return labels
  }

  /** Signs what was read, into the octets of the table. */
  #make(zone: Uint8Array, key: SigningKey, type: number, inception: number): void {
    const { octets, ownerBytes, recordAt, recordCount, ttlSeconds } = this.#digest
    const owner = octets.slice(nameAt, nameAt + ownerBytes)
    const rdata = Array.from(recordAt.subarray(0, recordCount), (at) =>
      octets.slice(at + 2, at + 2 + ((octets[at]! << 8) | octets[at + 1]!)),
    )
    const times = { inception, expiration: inception + validity.total }
    const labels = labelsOf(owner)
    const rrset = { owner, type, ttlSeconds, rdata, labels }
    const signed = signRrset(rrset, zone, key.key, times)
    this.#table.octets.set(signed.subarray(signed.length - signatureBytes))
  }
}

/** Where there is no key at all. */
export class KeylessSigner implements Signer {
  readonly #bundle: Bundle

  constructor(bundle: Bundle) {
    this.#bundle = bundle
  }

  signs(zone: number): boolean {
    return isSigned(this.#bundle, zone)
  }

  sign(_to: OpenReply, zone: number): number {
    return isSigned(this.#bundle, zone) ? cannotSign : 0
  }

  keyRdata(): undefined {
    return undefined
  }
}

/** Keys sign their own records, and what a parent is to know of them. RFC 7344 section 4.1. */
function isOfKeys(type: number): boolean {
  return type === RrType.DNSKEY || type === RrType.CDS || type === RrType.CDNSKEY
}

function isSigned(bundle: Bundle, zone: number): boolean {
  return (nodeFlags(bundle, bundle.zoneNode[zone]!) & NodeFlag.Signed) !== 0
}

/** Where the owner stands in the octets of a digest. */
const nameAt = 8

/** When a signature begins that is made for an rrset now; seconds since 1970, as 32 bits. */
function inceptionAt(nowSeconds: number, digest: number): number {
  const { period, backdated } = validity
  const offset = (digest & 0x3fff_ffff) % period
  const now = nowSeconds >>> 0
  const begun = now - ((now + offset) % period)
  return (begun - backdated) | 0
}

/** @param name in lower case @returns its row, or -1: it is no zone here that is to be signed */
function signedZoneNamed(bundle: Bundle, name: Uint8Array): number {
  const { names, nameIndex, nameIndexMask, nameSeed, nodeRow } = bundle
  const hash = hashName(name, nameSeed)
  for (let slot = hash & nameIndexMask; ; slot = (slot + 1) & nameIndexMask) {
    const node = nameIndex[slot * 2 + 1]! - 1
    if (node < 0) return -1
    if ((nameIndex[slot * 2]! | 0) !== hash) continue
    const from = nodeRow[node * NodeCell.Words + NodeCell.NameOffset]!
    if (!sameOctets(names.subarray(from, from + name.length), name)) continue
    return (nodeFlags(bundle, node) & NodeFlag.Signed) !== 0 ? zoneOfNode(bundle, node) : -1
  }
}
