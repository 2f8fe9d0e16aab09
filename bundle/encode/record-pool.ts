// Holds octets in which equal data is stored once, and names in their wire form.
import { randomInt } from 'node:crypto'
import { isAtOrBelow, parseName } from '#dns/name.ts'
import { assert } from '#lib/assert.ts'

/** An entry in the table. `End` is the end offset plus one; 0 marks a free slot. */
const Slot = { Words: 4, End: 0, Hash: 1, Length: 2, Kind: 3 } as const

/** What an entry takes on average: a record with its length, or two rows. */
const octetsOfEntry = 40

/** Random per process: names made to collide under one seed do not collide under another. */
const seed = randomInt(2 ** 32)

function hashOf(entry: Uint8Array, kind: number, length: number): number {
  let hash = seed ^ kind
  for (let i = 0; i < length; i++) {
    hash = Math.imul(hash ^ entry[i]!, 0x9e3779b1 | 0)
    hash ^= hash >>> 15
  }
  return hash >>> 0
}

/**
 * Growing octets in which each distinct run is stored once. The table holds numbers: a million
 * texts as keys of a map would take 100 MB.
 */
export class RecordPool {
  #octets: Uint8Array
  #length = 0
  #slots: Uint32Array<ArrayBuffer>
  #entries = 0

  /** @param entries estimated number of entries */
  constructor(entries = 0) {
    // Memory is taken as it is written, and each growth would have the garbage collected.
    this.#octets = new Uint8Array(Math.max(4096, entries * octetsOfEntry))
    let slots = 1024
    while (slots < entries * 2) slots *= 2
    this.#slots = new Uint32Array(slots * Slot.Words)
  }

  /**
   * Stores an entry once.
   *
   * @param kind entries of two kinds never share octets
   * @param length how many octets of `entry` count
   * @returns their offset in the pool
   */
  add(entry: Uint8Array, kind = 0, length = entry.length): number {
    const hash = hashOf(entry, kind, length)
    const slots = this.#slots
    let slot = slotAfter(slots, hash)
    for (; slots[slot + Slot.End] !== 0; slot = slotAfter(slots, slot / Slot.Words + 1)) {
      if (slots[slot + Slot.Hash] !== hash || slots[slot + Slot.Kind] !== kind) continue
      const start = slots[slot + Slot.End]! - 1 - length
      if (slots[slot + Slot.Length] === length && this.#isAt(start, entry, length)) return start
    }
    const offset = this.#append(entry, length)
    slots[slot + Slot.End] = this.#length + 1
    slots[slot + Slot.Hash] = hash
    slots[slot + Slot.Length] = length
    slots[slot + Slot.Kind] = kind
    if (++this.#entries * 2 * Slot.Words > slots.length) this.#slots = twiceAsMany(slots)
    return offset
  }

  #isAt(start: number, entry: Uint8Array, length: number): boolean {
    for (let i = 0; i < length; i++) if (this.#octets[start + i] !== entry[i]) return false
    return true
  }

  #append(entry: Uint8Array, length: number): number {
    const offset = this.#length
    this.#length += length
    if (this.#length > this.#octets.length) {
      const larger = new Uint8Array(Math.max(this.#octets.length * 2, this.#length))
      larger.set(this.#octets)
      this.#octets = larger
    }
    for (let i = 0; i < length; i++) this.#octets[offset + i] = entry[i]!
    return offset
  }

  bytes(): Uint8Array {
    return this.#octets.subarray(0, this.#length)
  }
}

/** Returns the next slot, cyclically. */
function slotAfter(slots: Uint32Array, count: number): number {
  return (count & (slots.length / Slot.Words - 1)) * Slot.Words
}

function twiceAsMany(before: Uint32Array): Uint32Array<ArrayBuffer> {
  const slots = new Uint32Array(before.length * 2)
  for (let at = 0; at < before.length; at += Slot.Words) {
    if (before[at + Slot.End] === 0) continue
    let slot = slotAfter(slots, before[at + Slot.Hash]!)
    while (slots[slot + Slot.End] !== 0) slot = slotAfter(slots, slot / Slot.Words + 1)
    for (let i = 0; i < Slot.Words; i++) slots[slot + i] = before[at + i]!
  }
  return slots
}

/**
 * Whether `name` can be compressed against `zone`, in any letter case; never against the root.
 *
 * @param zone in lower case
 */
export function isInZone(name: Uint8Array, zone: Uint8Array): boolean {
  return zone.length > 1 && isAtOrBelow(name, zone)
}

/** Encodes a name that the compiler has already checked. */
export function wireOf(name: string): Uint8Array {
  const wire = parseName(name)
  assert(wire.ok, `the model holds valid names, got ${JSON.stringify(name)}`)
  return wire.value
}
