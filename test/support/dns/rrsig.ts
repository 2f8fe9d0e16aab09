// Signs an rrset as RFC 4034 sections 3.1 and 6 read, with no thought of speed: what the signer of
// the answer path is compared with.
import { canonicalRdata, rdataTypeOf } from '#dns/rdata/rdata-types.ts'
import { QClass } from '#dns/header.ts'
import { foldName } from '#dns/name.ts'
import type { ZoneKey } from '#dns/dnssec/zone-key.ts'

export interface SignedRrset {
  /** Wire form. */
  readonly owner: Uint8Array
  readonly type: number
  readonly ttlSeconds: number
  /** Wire form, names in full; in any order. */
  readonly rdata: readonly Uint8Array[]
  /** Less than those of the owner: it stands for what a wildcard matches. Left out: all of them. */
  readonly labels?: number
}

/** Seconds since 1970, of which 32 bits count. RFC 4034 section 3.1.5. */
interface Validity {
  readonly inception: number
  readonly expiration: number
}

/** Type, algorithm, labels, TTL, expiration, inception, key tag: what the signer's name follows. */
export const rrsigFixedBytes = 18

/**
 * @param zone its name, in wire form
 * @returns rdata of an RRSIG record
 */
export function signRrset(
  rrset: SignedRrset,
  zone: Uint8Array,
  key: ZoneKey,
  validity: Validity,
): Uint8Array {
  const head = rrsigHead(rrset, zone, key, validity)
  const { algorithm, privateKey } = key
  return Buffer.concat([head, algorithm.signerOf(privateKey)(coveredOctets(head, rrset))])
}

/** RFC 4034 section 3.1.3: neither the root nor a leading asterisk counts. */
export function labelsOf(owner: Uint8Array): number {
  let count = 0
  for (let at = 0; owner[at] !== 0; at += owner[at]! + 1) count++
  return owner[0] === 1 && owner[1] === asterisk ? count - 1 : count
}

const asterisk = 0x2a

/** The rdata up to the signature, the signer's name in lower case. RFC 4034 section 3.1.7. */
function rrsigHead(
  { owner, type, ttlSeconds, labels = labelsOf(owner) }: SignedRrset,
  zone: Uint8Array,
  { algorithm, tag }: ZoneKey,
  { inception, expiration }: Validity,
): Uint8Array {
  const fixed = Buffer.alloc(rrsigFixedBytes)
  fixed.writeUInt16BE(type, 0)
  fixed.writeUInt8(algorithm.number, 2)
  fixed.writeUInt8(labels, 3)
  fixed.writeUInt32BE(ttlSeconds, 4)
  fixed.writeUInt32BE(expiration >>> 0, 8)
  fixed.writeUInt32BE(inception >>> 0, 12)
  fixed.writeUInt16BE(tag, 16)
  return Buffer.concat([fixed, foldName(zone)])
}

/**
 * RFC 4034 section 3.1.8.1: the rdata without the signature, then the records in canonical form and
 * order, each once.
 *
 * @param head rdata of the RRSIG record up to the signature
 */
export function coveredOctets(head: Uint8Array, rrset: SignedRrset): Uint8Array {
  const { owner, type, ttlSeconds, rdata } = rrset
  const labels = head[3]!
  const fixed = Buffer.alloc(10)
  fixed.writeUInt16BE(type, 0)
  fixed.writeUInt16BE(QClass.In, 2)
  fixed.writeUInt32BE(ttlSeconds, 4)
  const name = signedName(foldName(owner), labels)
  const parts: Uint8Array[] = [head]
  const form = rdataTypeOf(type)
  const sorted = rdata.map((one) => canonicalRdata(form, one))
  sorted.sort((a, b) => Buffer.compare(a, b))
  for (const [i, one] of sorted.entries()) {
    if (i > 0 && Buffer.compare(one, sorted[i - 1]!) === 0) continue
    fixed.writeUInt16BE(one.length, 8)
    parts.push(name, Buffer.from(fixed), one)
  }
  return Buffer.concat(parts)
}

/** RFC 4034 section 3.1.8.1: with fewer labels, an asterisk and the last of them. */
function signedName(owner: Uint8Array, labels: number): Uint8Array {
  let at = 0
  let left = labelsOf(owner)
  if (left === labels) return owner
  for (; left > labels; left--) at += owner[at]! + 1
  return Buffer.concat([Uint8Array.of(1, asterisk), owner.subarray(at)])
}
