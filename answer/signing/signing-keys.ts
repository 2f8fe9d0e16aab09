// Packs the keys that sign zones for the threads that answer: in shared memory, never in a bundle.
import { createPrivateKey } from 'node:crypto'
import type { KeyObject } from 'node:crypto'
import { foldName, formatName, labelOffsets } from '#dns/name.ts'
import { RrType } from '#dns/rrtype.ts'
import { signingAlgorithm } from '#dns/dnssec/algorithms.ts'
import { KeyUse } from '#dns/dnssec/key-record.ts'
import { DigestType, dsRdata, keyTag } from '#dns/dnssec/zone-key.ts'
import { assert } from '#lib/assert.ts'

/** Part of a generation on a node that signs. */
export interface HandedSigning {
  /** From 1; it changes with the keys. */
  readonly number: number
  /** See `packKeys`. */
  readonly keys: SharedArrayBuffer
  /** See signature-table.ts. */
  readonly signatures: SharedArrayBuffer
  /** See `packSignals`: of the bundle of the same generation. null or left out: none. */
  readonly signals?: SharedArrayBuffer | null
}

const signsAny = KeyUse.SignsRecords | KeyUse.SignsKeys

/** A key of a zone and its use. A zone has several. */
export interface HandedKey {
  /** In wire form. */
  readonly zone: Uint8Array
  readonly key: {
    /** Rdata of DNSKEY. A key that does not sign here may have any algorithm. */
    readonly rdata: Uint8Array
    /** Bytes are PKCS#8 in DER. null: another signer has it (RFC 8901), or it signs nothing now. */
    readonly privateKey: KeyObject | Uint8Array | null
  }
  /** Bits of `KeyUse`. */
  readonly use: number
}

/** A key as a thread has it. */
export class SigningKey {
  readonly algorithm: number
  readonly tag: number
  /** Distinguishes its signatures from those of other keys. */
  readonly salt: number
  readonly #secret: Buffer
  #sign: ((octets: Uint8Array) => Uint8Array) | undefined

  constructor(rdata: Uint8Array, secret: Buffer) {
    this.algorithm = rdata[3]!
    this.tag = keyTag(rdata)
    this.salt = Buffer.from(rdata).readInt32BE(4)
    this.#secret = secret
  }

  /** The private half is read at the first call, which takes 100 µs. */
  sign(octets: Uint8Array): Uint8Array {
    this.#sign ??= signerOfKey(this.algorithm, this.#secret)
    return this.#sign(octets)
  }
}

/** Only keys with an algorithm that can sign were packed with a private half. */
function signerOfKey(algorithm: number, secret: Buffer): (octets: Uint8Array) => Uint8Array {
  const key = createPrivateKey({ key: secret, format: 'der', type: 'pkcs8' })
  return signingAlgorithm(algorithm)!.signerOf(key)
}

/** The keys of a zone as a thread has them. */
export interface ZoneKeySet {
  /** In wire form and lower case. */
  readonly zone: Uint8Array
  /** The same in words, the most significant octet first. */
  readonly zoneWords: Int32Array
  /** Number of labels in its name, without the root: as RRSIG counts them. */
  readonly labels: number
  /** What signs records, and what signs those of keys. */
  readonly ofRecords: readonly SigningKey[]
  readonly ofKeys: readonly SigningKey[]
  /** By type: DNSKEY, CDS, CDNSKEY. */
  readonly rdataOf: Readonly<Record<number, readonly Uint8Array[]>>
}

/**
 * A zone: octets of all of it, length of its name; the name; its keys. A key: what for, lengths of
 * its rdata and of its private half, both.
 */
const zoneHeadBytes = 5
const keyHeadBytes = 5

export function packKeys(keys: readonly HandedKey[]): SharedArrayBuffer {
  const zones = new Map<string, { readonly wire: Uint8Array; readonly parts: Buffer[] }>()
  for (const key of keys) {
    const wire = foldName(key.zone)
    const name = formatName(wire)
    const zone = zones.get(name) ?? { wire, parts: [] }
    zone.parts.push(packKey(key))
    zones.set(name, zone)
  }
  const chunks = Array.from(zones.values(), ({ wire, parts }) => {
    const head = Buffer.alloc(zoneHeadBytes)
    const chunk = Buffer.concat([head, wire, ...parts])
    chunk.writeUInt32BE(chunk.length, 0)
    chunk[4] = wire.length
    return chunk
  })
  const octets = Buffer.concat(chunks)
  const memory = new SharedArrayBuffer(octets.length)
  new Uint8Array(memory).set(octets)
  return memory
}

function packKey({ key: { rdata, privateKey }, use }: HandedKey): Buffer {
  const isSigner = (use & signsAny) !== 0
  const canSign = privateKey !== null && signingAlgorithm(rdata[3]!) !== undefined
  assert(!isSigner || canSign, 'a key that signs has a private half of an algorithm that is known')
  const secret = isSigner && privateKey !== null ? secretOctets(privateKey) : Buffer.alloc(0)
  const head = Buffer.alloc(keyHeadBytes)
  head[0] = use
  head.writeUInt16BE(rdata.length, 1)
  head.writeUInt16BE(secret.length, 3)
  return Buffer.concat([head, rdata, secret])
}

function secretOctets(key: KeyObject | Uint8Array): Uint8Array {
  return key instanceof Uint8Array ? key : key.export({ format: 'der', type: 'pkcs8' })
}

function unpackZone(octets: Buffer): ZoneKeySet {
  const nameEnd = zoneHeadBytes + octets[4]!
  const zone = Uint8Array.from(octets.subarray(zoneHeadBytes, nameEnd))
  const published: Uint8Array[] = []
  const wanted: Uint8Array[] = []
  const ofRecords: SigningKey[] = []
  const ofKeys: SigningKey[] = []
  for (let at = nameEnd; at < octets.length;) {
    const use = octets[at]!
    const secretAt = at + keyHeadBytes + octets.readUInt16BE(at + 1)
    const end = secretAt + octets.readUInt16BE(at + 3)
    const rdata = Uint8Array.from(octets.subarray(at + keyHeadBytes, secretAt))
    if ((use & KeyUse.Published) !== 0) published.push(rdata)
    if ((use & KeyUse.InCds) !== 0) wanted.push(rdata)
    if ((use & signsAny) !== 0) {
      const key = new SigningKey(rdata, octets.subarray(secretAt, end))
      if ((use & KeyUse.SignsRecords) !== 0) ofRecords.push(key)
      if ((use & KeyUse.SignsKeys) !== 0) ofKeys.push(key)
    }
    at = end
  }
  const zoneWords = new Int32Array(Math.ceil(zone.length / 4))
  for (const [i, octet] of zone.entries()) zoneWords[i >> 2]! |= octet << (24 - (i & 3) * 8)
  const labels = labelOffsets(zone).length
  const rdataOf = {
    [RrType.DNSKEY]: published,
    [RrType.CDS]: wanted.map((rdata) => dsRdata(zone, { rdata }, DigestType.Sha256)),
    [RrType.CDNSKEY]: wanted,
  }
  return { zone, zoneWords, labels, ofRecords, ofKeys, rdataOf }
}

interface KnownZone {
  readonly octets: Buffer
  readonly keys: ZoneKeySet
}

function readZone(chunk: Buffer): KnownZone {
  // A copy: keys of other zones that are gone do not stay in memory for it.
  const octets = Buffer.from(chunk)
  return { octets, keys: unpackZone(octets) }
}

/** Keeps the keys of a thread over generations, and reads only zones that have changed. */
export class KeyMemory {
  #number = 0
  #zones: ReadonlyMap<string, KnownZone> = new Map()
  #keys: readonly ZoneKeySet[] = []

  keysOf({ number, keys }: HandedSigning): readonly ZoneKeySet[] {
    if (number === this.#number) return this.#keys
    const octets = Buffer.from(new Uint8Array(keys))
    const zones = new Map<string, KnownZone>()
    for (let at = 0; at < octets.length;) {
      const end = at + octets.readUInt32BE(at)
      const chunk = octets.subarray(at, end)
      const name = chunk.toString('latin1', zoneHeadBytes, zoneHeadBytes + chunk[4]!)
      const known = this.#zones.get(name)
      zones.set(name, known?.octets.equals(chunk) === true ? known : readZone(chunk))
      at = end
    }
    this.#zones = zones
    this.#keys = Array.from(zones.values(), (zone) => zone.keys)
    this.#number = number
    return this.#keys
  }
}
