// Numbers candidate lists: equal lists have the same number in every query, so that results can be
// cached by it.
import * as limits from '#bundle/format/limits.ts'

// Local constants are faster than imports: see answer/answer.ts.
const { bundleLimits } = limits

/** The part of a chain that is numbered: its candidates, and how many of them are answered. */
export interface CandidateList {
  readonly members: Uint32Array
  readonly count: number
  readonly answerCount: number
}

/** Slots side by side in which a list may be; the oldest is replaced. A power of two. */
export const ways = 4
/**
 * Most pools are small. Slots are powers of two. A hash finds a list, which is then compared whole.
 */
const small = { membersMax: 64, slots: 4_096 } as const
const large = { membersMax: bundleLimits.membersPerPoolMax, slots: 64 } as const
/** The head of a list: kind of comparison, number of answers, number of candidates. */
const answersShift = 8
const countShift = 16

/** One per thread. */
export class CandidateLists {
  readonly #small = new ListTable(small.membersMax, small.slots)
  readonly #large = new ListTable(large.membersMax, large.slots)
  /** The last number given; from 1 on, never twice. */
  given = 0

  /** Forgets all lists. Their numbers are not given again. */
  clear(): void {
    this.#small.clear()
    this.#large.clear()
  }

  /** @param kind of comparison, from 1 to 255; each kind numbers a list on its own */
  numberOf(list: CandidateList, kind: number): number {
    const table = list.count <= small.membersMax ? this.#small : this.#large
    const head = kind | (list.answerCount << answersShift) | (list.count << countShift)
    const hash = hashOf(list, head)
    const known = table.find(list, head, hash)
    if (known > 0) return known
    table.keep(list, head, hash, ++this.given)
    return this.given
  }
}

/** Lists of at most `membersMax` members. */
class ListTable {
  /** By slot; 0: empty. */
  readonly #number: Int32Array
  readonly #hash: Int32Array
  readonly #head: Int32Array
  readonly #members: Uint32Array
  readonly #membersMax: number

  constructor(membersMax: number, slots: number) {
    this.#number = new Int32Array(slots)
    this.#hash = new Int32Array(slots)
    this.#head = new Int32Array(slots)
    this.#members = new Uint32Array(slots * membersMax)
    this.#membersMax = membersMax
  }

  clear(): void {
    this.#number.fill(0)
  }

  /** @returns the number of the list; 0: not found */
  find({ members, count }: CandidateList, head: number, hash: number): number {
    const first = this.#firstSlot(hash)
    for (let slot = first; slot < first + ways; slot++) {
      if (this.#hash[slot] !== hash || this.#head[slot] !== head) continue
      const at = slot * this.#membersMax
      let same = 0
      while (same < count && this.#members[at + same] === members[same]) same++
      if (same === count) return this.#number[slot]!
    }
    return 0
  }

  keep({ members, count }: CandidateList, head: number, hash: number, number: number): void {
    const slot = oldestSlot(this.#number, this.#firstSlot(hash))
    this.#number[slot] = number
    this.#hash[slot] = hash
    this.#head[slot] = head
    const at = slot * this.#membersMax
    for (let i = 0; i < count; i++) this.#members[at + i] = members[i]!
  }

  #firstSlot(hash: number): number {
    return hash & (this.#number.length - 1) & -ways
  }
}

/** The slot to replace: of `ways` from `first` on, the one with the lowest number. */
export function oldestSlot(numberOfSlot: Int32Array, first: number): number {
  let oldest = first
  for (let slot = first + 1; slot < first + ways; slot++) {
    if (numberOfSlot[slot]! < numberOfSlot[oldest]!) oldest = slot
  }
  return oldest
}

function hashOf({ members, count }: CandidateList, head: number): number {
  let hash = Math.imul(head, 0x9e37_79b9)
  for (let i = 0; i < count; i++) {
    hash = Math.imul(hash ^ members[i]!, 0xc2b2_ae35)
    hash ^= hash >>> 15
  }
  return hash
}
