// Hits of redirects on the main thread: carried from table to table by uid, and never falling.
import { uidOf } from '#bundle/format/bundle.ts'

interface Table {
  readonly number: number
  readonly uids: Uint8Array
  /** Written by the thread of the listener, until it has adopted a later table. */
  readonly hits: Float64Array
  /** What of them is in the sums already. */
  readonly taken: Float64Array
}

export class RedirectHits {
  /** The one that is used now is the last. */
  #tables: Table[] = []
  /** By row of the last table: what was counted in earlier ones. */
  #before = new Float64Array(0)

  /** @param uids sorted, 16 octets a row @returns where hits of the new table are counted */
  next(number: number, uids: Uint8Array): SharedArrayBuffer {
    this.#fold()
    const rows = uids.length / 16
    const last = this.#tables.at(-1)
    const before = new Float64Array(rows)
    for (let row = 0; row < this.#before.length; row++) {
      const count = this.#before[row]! + last!.hits[row]!
      if (count === 0) continue
      const found = rowOf(uids, last!.uids, row)
      if (found >= 0) before[found] = count
    }
    last?.taken.set(last.hits)
    this.#before = before
    const hits = new SharedArrayBuffer(rows * 8)
    this.#tables.push({
      number,
      uids,
      hits: new Float64Array(hits),
      taken: new Float64Array(rows),
    })
    return hits
  }

  /** The thread counts in this table now, and in none before it. */
  adopted(number: number): void {
    this.#fold()
    this.#tables = this.#tables.filter((table) => table.number >= number)
  }

  /** By uid, of the redirects that were asked for; of those that are gone, nothing. */
  counted(): ReadonlyMap<string, number> {
    this.#fold()
    const counts = new Map<string, number>()
    const last = this.#tables.at(-1)
    if (last === undefined) return counts
    for (let row = 0; row < last.hits.length; row++) {
      const count = this.#before[row]! + last.hits[row]!
      if (count > 0) counts.set(uidOf(last.uids, row), count)
    }
    return counts
  }

  /** What came to earlier tables meanwhile. */
  #fold(): void {
    const last = this.#tables.at(-1)
    for (const table of this.#tables) {
      if (table === last) return
      for (let row = 0; row < table.hits.length; row++) {
        const count = table.hits[row]!
        const more = count - table.taken[row]!
        if (more === 0) continue
        table.taken[row] = count
        const found = rowOf(last!.uids, table.uids, row)
        if (found >= 0) this.#before[found]! += more
      }
    }
  }
}

/** The row of `uids` that is row `row` of `others`, or -1. */
function rowOf(uids: Uint8Array, others: Uint8Array, row: number): number {
  const wanted = others.subarray(row * 16, row * 16 + 16)
  let low = 0
  let high = uids.length / 16
  while (low < high) {
    const middle = (low + high) >>> 1
    const order = Buffer.compare(uids.subarray(middle * 16, middle * 16 + 16), wanted)
    if (order === 0) return middle
    if (order < 0) low = middle + 1
    else high = middle
  }
  return -1
}
