// Buckets of answers in shared memory, for all answering threads: a table of fixed size, in which
// each key finds room.

// A bucket is two cells: the tag of its key, and the microsecond at which it will be full again
// (low 32 bits). That is the virtual scheduling of ATM's generic cell rate algorithm: each answer
// moves the time on by what it costs, and one that would move it further ahead of the clock than
// the window is too many.
//
// A key may be in one line of eight buckets, which is a line of the processor's cache. Where its
// line has no bucket for it, it takes over the one that is fullest, with the time in it. Every time
// in a line passes at the same speed, so whoever comes back later takes over a time that is never
// before its own: the table may limit too early when it is crowded, but never too late.
//
// The time of a full bucket is stored plainly, as tags are; any other is changed by compare and
// exchange, so that no answer of two threads is lost. Only where threads meet at a full bucket may
// one be forgotten. An exchange costs as much as the rest: the processor waits until all octets of
// the reply are stored. An answer that is too many writes nothing.

const bucketCells = 2
const lineBuckets = 8
const lineCells = lineBuckets * bucketCells
/** The high three bits of a hash say which bucket of its line a key has where that is free. */
const ownShift = 29
export const bucketBytes = bucketCells * 4

/** A window and the cost of an answer are less; what is further ahead of the clock is long over. */
const aheadMaxMicros = 64_000_000

/** Says `take`: whether there was room, and whether the bucket was another key's a moment ago. */
export const Taken = { Room: 0, None: 1, RoomOfOther: 2, NoneOfOther: 3 } as const
export type Taken = (typeof Taken)[keyof typeof Taken]
const { Room, None, RoomOfOther, NoneOfOther } = Taken

/** @returns the number of buckets that a table for so many has */
export function bucketCountFor(wanted: number): number {
  return 2 ** Math.ceil(Math.log2(Math.max(wanted, lineBuckets)))
}

export class BucketTable {
  readonly #cells: Int32Array
  readonly #lineMask: number

  /**
   * @param byteOffset of a line of the cache; behind it are `bucketBytes` for each bucket
   * @param buckets a power of two
   */
  constructor(shared: SharedArrayBuffer, byteOffset: number, buckets: number) {
    this.#cells = new Int32Array(shared, byteOffset, buckets * bucketCells)
    this.#lineMask = buckets / lineBuckets - 1
  }

  /**
   * Takes room for one answer from the bucket of a key.
   *
   * @param hash of the key: its low bits say in which line it is, its high ones which bucket
   * @param tag of the key: keys of one line are told apart by it
   * @param costMicros of the answer: less than a window
   * @param windowMicros less than `aheadMaxMicros` together with the cost
   * @param nowMicros low 32 bits, of a clock that all threads share
   */
  take(
    hash: number,
    tag: number,
    costMicros: number,
    windowMicros: number,
    nowMicros: number,
  ): Taken {
    const cells = this.#cells
    const line = (hash & this.#lineMask) * lineCells
    const own = line + (hash >>> ownShift) * bucketCells
    // A walk that ends anywhere in the line is a branch that the processor does not foresee.
    if (cells[own] !== tag) return this.#search(hash, tag, costMicros, windowMicros, nowMicros)
    return this.#charge(own + 1, costMicros, windowMicros, nowMicros) ? Room : None
  }

  /** As `take`, for a key that has another bucket of its line, or none yet. */
  #search(
    hash: number,
    tag: number,
    costMicros: number,
    windowMicros: number,
    nowMicros: number,
  ): Taken {
    const cells = this.#cells
    const line = (hash & this.#lineMask) * lineCells
    const own = line + (hash >>> ownShift) * bucketCells
    const end = line + lineCells
    let at = line
    while (at < end && cells[at] !== tag) at += bucketCells
    if (at < end) return this.#charge(at + 1, costMicros, windowMicros, nowMicros) ? Room : None
    let fullest = own
    let least = aheadOf(cells[own + 1]!, nowMicros)
    // A bucket that is full has nothing in it of the key that had it.
    for (at = line; at < end && least > 0; at += bucketCells) {
      const ahead = aheadOf(cells[at + 1]!, nowMicros)
      if (ahead < least) {
        least = ahead
        fullest = at
      }
    }
    const isCharged = this.#charge(fullest + 1, costMicros, windowMicros, nowMicros)
    if (isCharged) cells[fullest] = tag
    if (least === 0) return isCharged ? Room : None
    return isCharged ? RoomOfOther : NoneOfOther
  }

  #charge(at: number, costMicros: number, windowMicros: number, nowMicros: number): boolean {
    const cells = this.#cells
    // It ends: whenever another thread was faster, less room is left.
    for (;;) {
      const full = cells[at]!
      const used = aheadOf(full, nowMicros)
      if (used + costMicros > windowMicros) return false
      const next = (nowMicros + used + costMicros) | 0
      if (used === 0) {
        cells[at] = next
        return true
      }
      if (Atomics.compareExchange(cells, at, full, next) === full) return true
    }
  }

  /** All buckets are full now. Before a thread has the table. */
  fill(nowMicros: number): void {
    const cells = this.#cells
    for (let at = 1; at < cells.length; at += bucketCells) cells[at] = nowMicros
  }

  /**
   * Moves the time of full buckets up to now: none is taken for one of the future when the clock
   * has gone round, after 71 minutes. For the main thread, which calls it for each part of the
   * table well before that time.
   *
   * @param part from 0, of `parts` equal ones, a power of two
   */
  sweep(part: number, parts: number, nowMicros: number): void {
    const cells = this.#cells
    const size = Math.max(lineCells, cells.length / parts)
    const end = Math.min((part + 1) * size, cells.length)
    for (let at = part * size; at < end; at += bucketCells) {
      const full = Atomics.load(cells, at + 1)
      if (aheadOf(full, nowMicros) === 0) Atomics.compareExchange(cells, at + 1, full, nowMicros)
    }
  }
}

/** Microseconds until a bucket is full; 0: it is. */
function aheadOf(full: number, nowMicros: number): number {
  const ahead = (full - nowMicros) | 0
  return ahead > 0 && ahead < aheadMaxMicros ? ahead : 0
}
