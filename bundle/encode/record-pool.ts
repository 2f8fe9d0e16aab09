// Encodes SOA and NS record data; equal data is stored once.
import { foldName, labelOffsets, parseName } from '#dns/name.ts'
import { assert } from '#lib/assert.ts'
import type { SoaModel } from '#bundle/format/model.ts'

/** Octets that grow, with each distinct run kept once. */
export class RecordPool {
  readonly #offsets = new Map<string, number>()
  #octets = Buffer.alloc(4096)
  #length = 0

  /** @returns the offset of `entry` in the pool */
  add(entry: Buffer): number {
    const key = entry.toString('latin1')
    const known = this.#offsets.get(key)
    if (known !== undefined) return known
    if (this.#length + entry.length > this.#octets.length) {
      const larger = Buffer.alloc(Math.max(this.#octets.length * 2, this.#length + entry.length))
      this.#octets.copy(larger, 0, 0, this.#length)
      this.#octets = larger
    }
    const offset = this.#length
    entry.copy(this.#octets, offset)
    this.#length += entry.length
    this.#offsets.set(key, offset)
    return offset
  }

  bytes(): Uint8Array {
    return this.#octets.subarray(0, this.#length)
  }
}

export function soaRecord(soa: SoaModel, apex: Uint8Array): Buffer {
  return Buffer.concat([
    u32(soa.ttlSeconds),
    // RFC 2308 section 3: resolvers keep a denial for the smaller of the two.
    u32(Math.min(soa.ttlSeconds, soa.minimumSeconds)),
    storedNameOf(wireOf(soa.mname), apex),
    storedNameOf(wireOf(soa.rname), apex),
    u32(soa.refreshSeconds),
    u32(soa.retrySeconds),
    u32(soa.expireSeconds),
    u32(soa.minimumSeconds),
  ])
}

/** @param servers names in wire form, and the host index of each or -1 */
export function nsRecord(
  ttlSeconds: number,
  servers: readonly { name: Uint8Array; host: number }[],
  apex: Uint8Array,
): Buffer {
  const entries = servers.flatMap(({ name, host }) => [storedNameOf(name, apex), u32(host + 1)])
  return Buffer.concat([u32(ttlSeconds), Buffer.from([servers.length]), ...entries])
}

/** Cuts `name` at `apex` when it is at or below it. Case of the labels is kept. */
function storedNameOf(name: Uint8Array, apex: Uint8Array): Buffer {
  const cut = isAtOrBelow(name, apex) ? name.length - apex.length : -1
  const labels = cut >= 0 ? name.subarray(0, cut) : name.subarray(0, name.length - 1)
  return Buffer.concat([Buffer.from([labels.length, cut >= 0 ? 1 : 0]), labels])
}

/** True when folded `name` ends in folded `zone` at a label. Nothing is cut at the root. */
export function isAtOrBelow(name: Uint8Array, zone: Uint8Array): boolean {
  if (zone.length === 1 || name.length < zone.length) return false
  const at = name.length - zone.length
  if (at !== 0 && !labelOffsets(name).includes(at)) return false
  return Buffer.compare(foldName(name).subarray(at), foldName(zone)) === 0
}

/** For names that the compiler has already checked. */
export function wireOf(name: string): Uint8Array {
  const wire = parseName(name)
  assert(wire.ok, `the model holds valid names, got ${JSON.stringify(name)}`)
  return wire.value
}

function u32(value: number): Buffer {
  const octets = Buffer.alloc(4)
  octets.writeUInt32BE(value >>> 0)
  return octets
}
