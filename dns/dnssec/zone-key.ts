// A key that signs a zone: its DNSKEY record, its tag, and the digests that a parent publishes. RFC
// 4034 sections 2 and 5, appendix B.
import { createHash } from 'node:crypto'
import type { KeyObject } from 'node:crypto'
import { foldName } from '#dns/name.ts'
import { algorithmOfKey } from './algorithms.ts'
import type { SigningAlgorithm } from './algorithms.ts'

export interface ZoneKey {
  readonly algorithm: SigningAlgorithm
  /** RFC 4034 section 2.1.1. */
  readonly flags: number
  readonly tag: number
  /** Rdata of DNSKEY and CDNSKEY. */
  readonly rdata: Uint8Array
  readonly privateKey: KeyObject
}

/** A zone key that a parent points to: it signs keys and, where it is the only one, all else. */
export const entryFlags = 257
/** One that signs the rest, where another one signs the keys. */
export const signerFlags = 256
/** RFC 4034 section 2.1.2. */
const protocol = 3
/** Flags, protocol, algorithm. */
const dnskeyFixedBytes = 4

/** @returns undefined: no key of an algorithm that signs here */
export function zoneKey(privateKey: KeyObject, flags = entryFlags): ZoneKey | undefined {
  const algorithm = algorithmOfKey(privateKey)
  return algorithm === undefined ? undefined : keyWith(algorithm, privateKey, flags)
}

export function generateZoneKey(algorithm: SigningAlgorithm, flags = entryFlags): ZoneKey {
  return keyWith(algorithm, algorithm.generate(), flags)
}

function keyWith(algorithm: SigningAlgorithm, privateKey: KeyObject, flags: number): ZoneKey {
  const rdata = new Uint8Array(dnskeyFixedBytes + algorithm.publicBytes)
  rdata.set([flags >> 8, flags & 0xff, protocol, algorithm.number])
  rdata.set(algorithm.publicOctets(privateKey), dnskeyFixedBytes)
  return { algorithm, flags, tag: keyTag(rdata), rdata, privateKey }
}

/** RFC 4034 appendix B. @param rdata of a DNSKEY record of any algorithm but 1 */
export function keyTag(rdata: Uint8Array): number {
  let sum = 0
  for (const [i, octet] of rdata.entries()) sum += (i & 1) === 0 ? octet << 8 : octet
  return (sum + (sum >>> 16)) & 0xffff
}

/** IANA "Digest Algorithms" of DS records, as far as RFC 8624 section 3.3 wants them published. */
export const DigestType = { Sha256: 2, Sha384: 4 } as const
export type DigestType = (typeof DigestType)[keyof typeof DigestType]

const hashes = { [DigestType.Sha256]: 'sha256', [DigestType.Sha384]: 'sha384' } as const

/**
 * Rdata of DS, and of CDS (RFC 7344 section 3.1). RFC 4034 section 5.1.4.
 *
 * @param zone its name, in wire form
 */
export function dsRdata(
  zone: Uint8Array,
  { rdata }: Pick<ZoneKey, 'rdata'>,
  type: DigestType,
): Uint8Array {
  const digest = createHash(hashes[type]).update(foldName(zone)).update(rdata).digest()
  const tag = keyTag(rdata)
  const head = Uint8Array.of(tag >> 8, tag & 0xff, rdata[3]!, type)
  return Buffer.concat([head, digest])
}
