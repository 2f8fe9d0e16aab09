// Writes the table of real-user measurements for the answer path.
import { RumCell, RumHeader, rumSlotOf, rumSlots } from '#routing/rum/table.ts'

/** The only writer of the shared table. */
export class RumTableWriter {
  readonly #cells: Int32Array
  readonly #words: Uint32Array
  readonly #values: Float32Array

  constructor(shared: SharedArrayBuffer) {
    this.#cells = new Int32Array(shared, 0, RumHeader.Words)
    this.#words = new Uint32Array(shared)
    this.#values = new Float32Array(shared)
  }

  /** Readers notice a change during their read, and read again or do without. */
  change(work: () => void): void {
    Atomics.add(this.#cells, RumHeader.Version, 1)
    try {
      work()
    } finally {
      Atomics.add(this.#cells, RumHeader.Version, 1)
    }
  }

  set(high: number, low: number, uid: Uint32Array, value: number): void {
    const words = this.#words
    const slot = this.#find(high, low, uid)
    const at = RumHeader.Words + slot * RumCell.Words
    if (words[at + RumCell.NetworkLow] === 0) this.#cells[RumHeader.Count]! += 1
    words[at + RumCell.NetworkHigh] = high
    words[at + RumCell.NetworkLow] = low
    words.set(uid, at + RumCell.Uid)
    this.#values[at + RumCell.Value] = value
  }

  /** Moves later entries up, so that walks need no marks of removed ones. */
  remove(high: number, low: number, uid: Uint32Array): void {
    const words = this.#words
    let hole = this.#find(high, low, uid)
    if (words[RumHeader.Words + hole * RumCell.Words + RumCell.NetworkLow] === 0) return
    this.#cells[RumHeader.Count]! -= 1
    for (let slot = next(hole); ; slot = next(slot)) {
      const at = RumHeader.Words + slot * RumCell.Words
      if (words[at + RumCell.NetworkLow] === 0) break
      const home = rumSlotOf(
        words[at + RumCell.NetworkHigh]!,
        words[at + RumCell.NetworkLow]!,
        words,
        at + RumCell.Uid,
      )
      // It may only move to a slot that its own walk passes.
      if (distance(home, slot) < distance(hole, slot)) continue
      const to = RumHeader.Words + hole * RumCell.Words
      words.copyWithin(to, at, at + RumCell.Words)
      hole = slot
    }
    const at = RumHeader.Words + hole * RumCell.Words
    words.fill(0, at, at + RumCell.Words)
  }

  /** @returns the slot of the entry, or the free one for it */
  #find(high: number, low: number, uid: Uint32Array): number {
    const words = this.#words
    for (let slot = rumSlotOf(high, low, uid, 0); ; slot = next(slot)) {
      const at = RumHeader.Words + slot * RumCell.Words
      const found = words[at + RumCell.NetworkLow]!
      if (found === 0) return slot
      if (found !== low || words[at + RumCell.NetworkHigh] !== high) continue
      if (uid.every((word, i) => words[at + RumCell.Uid + i] === word)) return slot
    }
  }
}

function next(slot: number): number {
  return (slot + 1) & (rumSlots - 1)
}

/** Steps from a slot to a later one, around the end. */
function distance(from: number, to: number): number {
  return (to - from) & (rumSlots - 1)
}
