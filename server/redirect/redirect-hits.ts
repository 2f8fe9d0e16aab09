// Adds up hits of redirects on the main thread: they are carried from table to table by uid, and
// never fall.
import { uidOf } from '#bundle/format/bundle.ts'

interface Table {
  readonly number: number
  readonly uids: Uint8Array
  /** Written by the thread of the listener, until it has adopted a later table. */
  readonly hits: Float64Array
  /** The part of the hits that the sums already hold. */
  readonly taken: Float64Array
  /** By row: the row of the same redirect in the last table; -1 when it has none. */
  rowInLast: Int32Array
}

/**
 * Sums of hits by redirect. With 100,000 redirects, the work at each change of them must be quick.
 */
export class RedirectHits {
  /** Tables that may still be counted in; the last is the one in use. */
  #tables: Table[] = []
  /** By row of the last table: hits counted in earlier tables. */
  #before = new Float64Array(0)
  /** By row of the last table: uids as texts, filled when they are first needed. */
  #texts: (string | undefined)[] = []

  /**
   * @param uids sorted, 16 octets a row
   * @returns where hits of the new table are counted
   */
  next(number: number, uids: Uint8Array): SharedArrayBuffer {
    this.#fold()
    const rows = uids.length / 16
    const last = this.#tables.at(-1)
    const before = new Float64Array(rows)
    const texts = new Array<string | undefined>(rows)
    if (last !== undefined) {
      const rowInNext = rowsIn(uids, last.uids)
      for (const [row, place] of rowInNext.entries()) {
        const hits = last.hits[row]!
        last.taken[row] = hits
        if (place < 0) continue
        before[place] = this.#before[row]! + hits
        texts[place] = this.#texts[row]
      }
      for (const table of this.#tables) {
        table.rowInLast = table.rowInLast.map((row) => (row < 0 ? -1 : rowInNext[row]!))
      }
    }
    this.#before = before
    this.#texts = texts
    const hits = new SharedArrayBuffer(rows * 8)
    this.#tables.push({
      number,
      uids,
      hits: new Float64Array(hits),
      taken: new Float64Array(rows),
      rowInLast: Int32Array.from({ length: rows }, (_, row) => row),
    })
    return hits
  }

  /** The thread now counts in this table, and in none before it. */
  adopted(number: number): void {
    this.#fold()
    this.#tables = this.#tables.filter((table) => table.number >= number)
  }

  /**
   * Returns hits by uid for the redirects that were asked for; redirects that were removed have
   * none.
   */
  counted(): ReadonlyMap<string, number> {
    this.#fold()
    const counts = new Map<string, number>()
    const last = this.#tables.at(-1)
    if (last === undefined) return counts
    for (let row = 0; row < last.hits.length; row++) {
      const count = this.#before[row]! + last.hits[row]!
      if (count > 0) counts.set((this.#texts[row] ??= uidOf(last.uids, row)), count)
    }
    return counts
  }

  /** Adds the hits that came to earlier tables meanwhile. */
  #fold(): void {
    const last = this.#tables.at(-1)
    for (const table of this.#tables) {
      if (table === last) return
      for (let row = 0; row < table.hits.length; row++) {
        const count = table.hits[row]!
        const more = count - table.taken[row]!
        if (more === 0) continue
        table.taken[row] = count
        const found = table.rowInLast[row]!
        if (found >= 0) this.#before[found]! += more
      }
    }
  }
}

/** For each row of `others` finds the row of the same uid in `uids`, or -1. Both are sorted. */
function rowsIn(uids: Uint8Array, others: Uint8Array): Int32Array {
  const found = new Int32Array(others.length / 16).fill(-1)
  const [left, right] = [octetsOf(others), octetsOf(uids)]
  let at = 0
  for (let row = 0; row < found.length; row++) {
    let order = 1
    while (at < right.length && order > 0) {
      order = left.compare(right, at, at + 16, row * 16, row * 16 + 16)
      if (order > 0) at += 16
    }
    if (order === 0) found[row] = at / 16
  }
  return found
}

function octetsOf({ buffer, byteOffset, byteLength }: Uint8Array): Buffer {
  return Buffer.from(buffer as ArrayBuffer, byteOffset, byteLength)
}
