// Caches, for each thread, which table values lead to the same choice from one candidate list.
import * as candidateLists from '#routing/state/candidate-lists.ts'
import { CandidateLists, oldestSlot } from '#routing/state/candidate-lists.ts'
import type { CandidateList } from '#routing/state/candidate-lists.ts'
import * as workReserve from './work-reserve.ts'
import { WorkReserve } from './work-reserve.ts'

// Local constants are faster than imports: see answer/answer.ts.
const { ways } = candidateLists
const { drawMax } = workReserve

/** The key of a cache entry: a candidate list and the position that was picked. */
export interface Choice extends CandidateList {
  readonly picked: number
}

/** `Mixed`: some values of a group lead to the same choice, or not all are known. */
export const Verdict = { Unknown: 0, Other: 1, Mixed: 2, Alike: 3 } as const
export type Verdict = (typeof Verdict)[keyof typeof Verdict]

/** Number of cache entries, one for each choice. A power of two. */
const slots = 16_384
/** Words of a bit set with one bit for each group. */
const groupWords = 8
/**
 * Cached verdicts of tree nodes. A power of two, once for the lowest nodes and once for those
 * above, so that an entry for many rows is not replaced by one for few.
 */
const nodeSlots = 131_072
/** A stretch: rows around a client that are all alike. A choice keeps the two costliest to find. */
const StretchCell = { Words: 3, First: 0, End: 1, Effort: 2 } as const
const stretchWords = StretchCell.Words * 2
/** After this many choices, weeks of changes, the cache is cleared and numbers restart. */
const numbersMax = 2 ** 30

const none = new Int32Array(0)

/** The cache of one thread. */
export class ScopeCache {
  /** From `at` on, a bit for each group: all of its values are alike. */
  alike = none
  /** A bit for each group: none of its values is alike. */
  other = none
  mixed = none
  #lists: CandidateLists | null = null
  /** By slot: the list number and the pick of its choice. */
  #list = none
  #picked = none
  /** By slot: the unique number of its choice; 0: empty. */
  #number = none
  #numbers = 0
  /**
   * Pairs: the number of a choice; then a node times 2, plus 1 where all rows below it are alike.
   */
  #nodes = none
  /** By slot and family. */
  #stretches = none
  /** The stretch that was found last, or -1. */
  #stretch = -1
  /** Offset of the words of the current choice. */
  at = 0
  /** Rows from `first` to before `end` are alike. */
  first = 0
  end = 0
  /** Effort left for this search. */
  effort = 0
  /** Effort spent since the choice was opened. */
  spent = 0
  readonly reserve: WorkReserve
  /** Whether this query has drawn on the reserve. */
  #hasAsked = false
  /** The unused part of what the reserve granted; the last part of `effort`. */
  #drawn = 0

  /** @param nowMs monotonic time, which fills the reserve */
  constructor(nowMs: () => number) {
    this.reserve = new WorkReserve(nowMs)
  }

  /**
   * Takes 6 MB, which a plan does without: it never asks for a scope. Threads that answer call this
   * when they start; elsewhere the first query that wants a scope does.
   */
  createTables(): CandidateLists {
    this.alike = new Int32Array(slots * groupWords)
    this.other = new Int32Array(slots * groupWords)
    this.mixed = new Int32Array(slots * groupWords)
    this.#list = new Int32Array(slots)
    this.#picked = new Int32Array(slots)
    this.#number = new Int32Array(slots)
    this.#nodes = new Int32Array(nodeSlots * 2 * 2)
    this.#stretches = new Int32Array(slots * 2 * stretchWords)
    this.#lists = new CandidateLists()
    return this.#lists
  }

  /** Clears everything: tables and bundle have changed. */
  clear(): void {
    this.#lists?.clear()
  }

  /** Begins a query and returns the unused draw of the last one to the reserve. */
  startQuery(): void {
    if (!this.#hasAsked) return
    this.#hasAsked = false
    this.reserve.giveBack(this.#drawnLeft())
    this.#drawn = 0
  }

  /**
   * @param kind of comparison, from 1 on; kinds do not share results
   * @param effort to spend before drawing on the reserve
   */
  open(choice: Choice, kind: number, effort: number): void {
    this.#drawn = this.#drawnLeft()
    this.effort = effort + this.#drawn
    this.spent = 0
    const lists = this.#lists ?? this.createTables()
    if (lists.given >= numbersMax || this.#numbers >= numbersMax) this.#restart(lists)
    const list = lists.numberOf(choice, kind)
    const slot = this.#slotOf(list, choice.picked)
    this.at = slot * groupWords
    // Lists are numbered from 1 on, so an empty slot matches none.
    const isKnown = this.#list[slot] === list && this.#picked[slot] === choice.picked
    if (!isKnown) this.#begin(slot, list, choice.picked)
  }

  /** @returns false when neither effort nor reserve had this much left; then nothing is left */
  spend(units: number): boolean {
    this.effort -= units
    this.spent += units
    return this.effort >= 0 || this.#draw()
  }

  verdict(group: number): Verdict {
    const word = this.at + (group >>> 5)
    const bit = 1 << (group & 31)
    if ((this.alike[word]! & bit) !== 0) return Verdict.Alike
    if ((this.other[word]! & bit) !== 0) return Verdict.Other
    return (this.mixed[word]! & bit) === 0 ? Verdict.Unknown : Verdict.Mixed
  }

  keep(group: number, verdict: Verdict): void {
    const word = this.at + (group >>> 5)
    const bit = 1 << (group & 31)
    if (verdict === Verdict.Alike) this.alike[word]! |= bit
    else if (verdict === Verdict.Other) this.other[word]! |= bit
    else this.mixed[word]! |= bit
  }

  /**
   * @param node of the choice's table, in either family
   * @returns Alike, Other or Unknown
   */
  verdictOfNode(node: number, level: number): Verdict {
    const number = this.#number[this.at / groupWords]!
    const at = nodeSlot(number, node, level)
    if (this.#nodes[at] !== number || this.#nodes[at + 1]! >> 1 !== node) return Verdict.Unknown
    return (this.#nodes[at + 1]! & 1) === 1 ? Verdict.Alike : Verdict.Other
  }

  keepNode(node: number, level: number, isAlike: boolean): void {
    const number = this.#number[this.at / groupWords]!
    const at = nodeSlot(number, node, level)
    this.#nodes[at] = number
    this.#nodes[at + 1] = node * 2 + (isAlike ? 1 : 0)
  }

  /** Sets `first` and `end` to the known stretch around a row: at least the row itself. */
  findStretch(row: number, isIpv6: boolean): void {
    const stretches = this.#stretches
    const start = this.#stretchesAt(isIpv6)
    for (let at = start; at < start + stretchWords; at += StretchCell.Words) {
      if (row < stretches[at + StretchCell.First]! || row >= stretches[at + StretchCell.End]!)
        continue
      this.#stretch = at
      this.first = stretches[at + StretchCell.First]!
      this.end = stretches[at + StretchCell.End]!
      return
    }
    this.#stretch = -1
    this.first = row
    this.end = row + 1
  }

  /** Stores `first` and `end`, unless the stored stretch took more effort. */
  keepStretch(isIpv6: boolean): void {
    const stretches = this.#stretches
    let at = this.#stretch
    if (at < 0) {
      at = this.#stretchesAt(isIpv6)
      const other = at + StretchCell.Words
      if (stretches[other + StretchCell.Effort]! < stretches[at + StretchCell.Effort]!) at = other
      if (this.spent <= stretches[at + StretchCell.Effort]!) return
      stretches[at + StretchCell.Effort] = 0
    }
    stretches[at + StretchCell.First] = this.first
    stretches[at + StretchCell.End] = this.end
    const effort = stretches[at + StretchCell.Effort]! + this.spent
    stretches[at + StretchCell.Effort] = Math.min(effort, numbersMax)
  }

  #stretchesAt(isIpv6: boolean): number {
    return ((this.at / groupWords) * 2 + (isIpv6 ? 1 : 0)) * stretchWords
  }

  #drawnLeft(): number {
    return Math.min(this.#drawn, Math.max(0, this.effort))
  }

  #draw(): boolean {
    if (this.#hasAsked) return false
    this.#hasAsked = true
    if (!this.reserve.draw()) return false
    this.#drawn = drawMax
    this.effort += drawMax
    return this.effort >= 0
  }

  /** @returns the slot of the choice, or the slot that it may replace */
  #slotOf(list: number, picked: number): number {
    const first = hashOf(list, picked) & (slots - 1) & -ways
    for (let slot = first; slot < first + ways; slot++) {
      if (this.#list[slot] === list && this.#picked[slot] === picked) return slot
    }
    return oldestSlot(this.#number, first)
  }

  #begin(slot: number, list: number, picked: number): void {
    this.#number[slot] = ++this.#numbers
    this.#list[slot] = list
    this.#picked[slot] = picked
    for (let word = this.at; word < this.at + groupWords; word++) {
      this.alike[word] = 0
      this.other[word] = 0
      this.mixed[word] = 0
    }
    const stretches = slot * 2 * stretchWords
    for (let i = stretches; i < stretches + 2 * stretchWords; i++) this.#stretches[i] = 0
  }

  #restart(lists: CandidateLists): void {
    lists.clear()
    lists.given = 0
    this.#list.fill(0)
    this.#number.fill(0)
    this.#nodes.fill(0)
    this.#numbers = 0
  }
}

/** @param level from 1 on, the lowest */
function nodeSlot(number: number, node: number, level: number): number {
  const slot = hashOf(number, node) & (nodeSlots - 1)
  return (level === 1 ? slot : slot + nodeSlots) * 2
}

function hashOf(one: number, other: number): number {
  const hash = Math.imul(one, 0x9e37_79b9) ^ Math.imul(other, 0x85eb_ca6b)
  return hash ^ (hash >>> 15)
}
