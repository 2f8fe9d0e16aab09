// The keys that zones are signed with, as they travel to the threads that answer: in shared memory,
// never in a bundle.
import { createPrivateKey } from 'node:crypto'
import type { KeyObject } from 'node:crypto'
import { foldName } from '#dns/name.ts'
import { RrType } from '#dns/rrtype.ts'
import { DigestType, dsRdata, zoneKey } from '#dns/dnssec/zone-key.ts'
import type { ZoneKey } from '#dns/dnssec/zone-key.ts'
import type { KeyOfZone } from '#dns/dnssec/key-files.ts'

/** What a generation has, where its node signs. */
export interface HandedSigning {
  /** Another one: the keys are others. From 1. */
  readonly number: number
  readonly keys: SharedArrayBuffer
  /** See signature-table.ts. */
  readonly signatures: SharedArrayBuffer
}

/** A key as a thread has it. */
export interface SigningKey {
  /** In wire form and lower case. */
  readonly zone: Uint8Array
  readonly key: ZoneKey
  /** Tells its signatures from those of other keys. */
  readonly salt: number
  readonly rdataOf: Readonly<Record<number, Uint8Array>>
}

/** For each key: lengths of its zone's name and of its PKCS#8 form, flags, then both. */
const headBytes = 6

export function packKeys(keys: readonly KeyOfZone[]): SharedArrayBuffer {
  const parts = keys.flatMap(({ zone, key }) => {
    const secret = key.privateKey.export({ format: 'der', type: 'pkcs8' })
    const head = Buffer.alloc(headBytes)
    head.writeUInt16BE(zone.length, 0)
    head.writeUInt16BE(secret.length, 2)
    head.writeUInt16BE(key.flags, 4)
    return [head, foldName(zone), secret]
  })
  const octets = Buffer.concat(parts)
  const memory = new SharedArrayBuffer(octets.length)
  new Uint8Array(memory).set(octets)
  return memory
}

function unpackKeys(memory: SharedArrayBuffer): readonly SigningKey[] {
  const octets = Buffer.from(new Uint8Array(memory))
  const keys: SigningKey[] = []
  for (let at = 0; at < octets.length;) {
    const zoneEnd = at + headBytes + octets.readUInt16BE(at)
    const end = zoneEnd + octets.readUInt16BE(at + 2)
    const zone = Uint8Array.from(octets.subarray(at + headBytes, zoneEnd))
    const key = octets.subarray(zoneEnd, end)
    const secret = createPrivateKey({ key, format: 'der', type: 'pkcs8' })
    keys.push(signingKey(zone, secret, octets.readUInt16BE(at + 4)))
    at = end
  }
  return keys
}

function signingKey(zone: Uint8Array, secret: KeyObject, flags: number): SigningKey {
  // It was one when it was packed.
  const key = zoneKey(secret, flags)!
  return {
    zone,
    key,
    salt: Buffer.from(key.rdata).readInt32BE(4),
    rdataOf: {
      [RrType.DNSKEY]: key.rdata,
      [RrType.CDNSKEY]: key.rdata,
      [RrType.CDS]: dsRdata(zone, key, DigestType.Sha256),
    },
  }
}

/** Keeps the keys of a thread from generation to generation: reading one takes 100 µs. */
export class KeyMemory {
  #number = 0
  #keys: readonly SigningKey[] = []

  keysOf({ number, keys }: HandedSigning): readonly SigningKey[] {
    if (number !== this.#number) {
      this.#keys = unpackKeys(keys)
      this.#number = number
    }
    return this.#keys
  }
}
