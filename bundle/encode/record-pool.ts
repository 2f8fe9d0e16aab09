// A pool of octets in which equal data is stored once, and names in their wire form.
import { foldName, isAtOrBelow, parseName } from '#dns/name.ts'
import { assert } from '#lib/assert.ts'

/** Octets that grow, with each distinct run kept once. */
export class RecordPool {
  readonly #offsets = new Map<string, number>()
  #octets = Buffer.alloc(4096)
  #length = 0

  /**
   * @param kind entries of two kinds never share octets
   * @returns the offset of `entry` in the pool
   */
  add(entry: Buffer, kind = ''): number {
    const key = kind + entry.toString('latin1')
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

/** Whether `name` can be cut at `zone`, in any letter case. Nothing is cut at the root. */
export function isInZone(name: Uint8Array, zone: Uint8Array): boolean {
  return zone.length > 1 && isAtOrBelow(foldName(name), foldName(zone))
}

/** For names that the compiler has already checked. */
export function wireOf(name: string): Uint8Array {
  const wire = parseName(name)
  assert(wire.ok, `the model holds valid names, got ${JSON.stringify(name)}`)
  return wire.value
}
