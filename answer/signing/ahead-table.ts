// Lets the thread that signs ahead of queries write into the shared table of signatures, where it
// displaces no signature that queries need.
import { Found, setSlots, SignatureTable, Slot } from './signature-table.ts'
import { inceptionAt, inceptionBefore } from './signature-times.ts'

/** A pass looks for all signatures that a bundle needs. After the last one counting starts anew. */
const passesMax = 0xffff
const firstPass = 2

export class AheadTable extends SignatureTable {
  /** By slot: the pass that has found or made its signature, 0 none; and the version it had. */
  readonly #passOf: Uint16Array
  readonly #versionOf: Uint16Array
  #pass = firstPass
  #place = -1
  /** Signatures, since the beginning. */
  made = 0
  /** Since the pass began: there was no place for them. */
  leftOut = 0

  constructor(memory: SharedArrayBuffer) {
    super(memory)
    this.#passOf = new Uint16Array(Math.floor(this.words.length / Slot.Words))
    this.#versionOf = new Uint16Array(this.#passOf.length)
  }

  /** To be called when the pass before has looked for all signatures. */
  beginPass(): void {
    this.leftOut = 0
    if (this.#pass++ < passesMax) return
    this.#passOf.fill(0)
    this.#pass = firstPass
  }

  /** @returns `Newest`: it is there, or may not be made: there is no place for it */
  override copy(
    digest0: number,
    digest1: number,
    inception: number,
    _before: number,
    isAnyName: boolean,
    to: DataView,
    at: number,
  ): number {
    const found = super.copy(digest0, digest1, inception, inception, isAnyName, to, at)
    const set = this.setOf(digest0, isAnyName)
    const same = this.#find(set, digest0, digest1)
    if (found === Found.Newest) {
      if (same >= 0) this.#note(same)
      return found
    }
    this.#place = same >= 0 ? same : this.#freeIn(set)
    if (this.#place >= 0) return Found.None
    this.leftOut++
    return Found.Newest
  }

  /** Called after `copy` has found none: the place is known. */
  override keep(
    digest0: number,
    digest1: number,
    inception: number,
    _isAnyName: boolean,
    signature: Uint8Array,
  ): void {
    this.made++
    if (this.write(this.#place, digest0, digest1, inception, signature)) this.#note(this.#place)
  }

  #find(set: number, digest0: number, digest1: number): number {
    const { words } = this
    for (let i = 0; i < setSlots; i++) {
      const at = set + i * Slot.Words
      if (words[at + Slot.Digest] !== digest0) continue
      if (words[at + Slot.Digest + 1] === digest1) return at
    }
    return -1
  }

  #note(at: number): void {
    const slot = slotAt(at)
    this.#passOf[slot] = this.#pass
    this.#versionOf[slot] = versionBits(this.words[at]!)
  }

  /** A slot that nobody needs: never used, out of date, or of a bundle or key of before. */
  #freeIn(set: number): number {
    for (let i = 0; i < setSlots; i++)
      if (this.words[set + i * Slot.Words] === 0) return set + i * Slot.Words
    for (let i = 0; i < setSlots; i++) {
      const at = set + i * Slot.Words
      if (this.#isForgotten(at) || this.#isOutOfDate(at)) return at
    }
    return -1
  }

  /** This thread has had it, and did not find it needed in all of the pass before. */
  #isForgotten(at: number): boolean {
    const slot = slotAt(at)
    const pass = this.#passOf[slot]!
    if (pass === 0 || pass >= this.#pass - 1) return false
    return this.#versionOf[slot] === versionBits(this.words[at]!)
  }

  #isOutOfDate(at: number): boolean {
    const { words, nowSeconds } = this
    const digest1 = words[at + Slot.Digest + 1]!
    let inception = words[at + Slot.Check]! ^ words[at + Slot.Digest]! ^ digest1
    for (let i = Slot.Signature; i < Slot.Words; i++) inception ^= words[at + i]!
    const newest = inceptionAt(nowSeconds, digest1)
    return inception !== newest && inception !== inceptionBefore(nowSeconds, newest)
  }
}

const slotAt = (at: number): number => Math.floor(at / Slot.Words)

/** Versions are even unless a thread is writing, so the lowest bit is left out. */
const versionBits = (version: number): number => (version >>> 1) & 0xffff
