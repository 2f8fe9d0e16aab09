// Which groups of a table's values are alike for a client: worked out once for as long as the
// candidates stay the same, so that most queries compare nothing.

/** What is chosen from, and how many of them are answered: of a chain at work, what counts here. */
export interface Choice {
  readonly members: Uint32Array
  readonly count: number
  readonly picked: number
  readonly answerCount: number
}

/** `Mixed`: of a group's values some are alike, or it is not known of all. */
export const Verdict = { Unknown: 0, Other: 1, Mixed: 2, Alike: 3 } as const
export type Verdict = (typeof Verdict)[keyof typeof Verdict]

/** What was worked out for how many different choices. A power of two. */
const slots = 256
/** Of more candidates nothing is kept from one query to the next. */
const candidatesMax = 64
/** A slot's key: what compares, with what, how many are answered; then the candidates in order. */
const KeyCell = {
  Words: 4 + candidatesMax,
  Kind: 0,
  Picked: 1,
  Answers: 2,
  Count: 3,
  First: 4,
} as const
/** Words of a bit for each group. */
const groupWords = 8
/** What was found of nodes by a look at their values. A power of two. */
const nodeSlots = 65_536
const numbersMax = 2 ** 30

/** One per thread. */
export class AlikeMemo {
  /** From `at` on, a bit for each group: it is alike. */
  readonly alike = new Int32Array((slots + 1) * groupWords)
  /** None of its values is. */
  readonly other = new Int32Array((slots + 1) * groupWords)
  readonly mixed = new Int32Array((slots + 1) * groupWords)
  readonly #key = new Int32Array((slots + 1) * KeyCell.Words)
  /** By slot: a number that no other choice had. */
  readonly #number = new Int32Array(slots + 1)
  #numbers = 0
  /** The number of a choice; then a node, times 2, and 1 more where all below it are alike. */
  readonly #nodes = new Int32Array(nodeSlots * 2)
  /** Where the words of the choice at work are. */
  at = 0
  /** What may still be spent on looking around. */
  effort = 0

  /** Forgets everything: tables and bundle are others. */
  clear(): void {
    this.#key.fill(0)
  }

  /** @param kind of comparison, from 1 on: what another one found does not count */
  open(choice: Choice, kind: number, effort: number): void {
    this.effort = effort
    const { count } = choice
    if (count > candidatesMax) {
      this.#forget(slots)
      return
    }
    const slot = slotOf(choice, kind)
    this.at = slot * groupWords
    if (!this.#isOf(slot, choice, kind)) this.#begin(slot, choice, kind)
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

  /** @param node of the choice's table, in either family @returns Alike, Other or Unknown */
  verdictOfNode(node: number): Verdict {
    const number = this.#number[this.at / groupWords]!
    const at = nodeSlot(number, node)
    if (this.#nodes[at] !== number || this.#nodes[at + 1]! >> 1 !== node) return Verdict.Unknown
    return (this.#nodes[at + 1]! & 1) === 1 ? Verdict.Alike : Verdict.Other
  }

  keepNode(node: number, isAlike: boolean): void {
    const number = this.#number[this.at / groupWords]!
    const at = nodeSlot(number, node)
    this.#nodes[at] = number
    this.#nodes[at + 1] = node * 2 + (isAlike ? 1 : 0)
  }

  #isOf(slot: number, { members, count, picked, answerCount }: Choice, kind: number): boolean {
    const key = this.#key
    const at = slot * KeyCell.Words
    if (key[at + KeyCell.Kind] !== kind || key[at + KeyCell.Picked] !== picked) return false
    if (key[at + KeyCell.Count] !== count || key[at + KeyCell.Answers] !== answerCount) return false
    for (let i = 0; i < count; i++) if (key[at + KeyCell.First + i] !== members[i]) return false
    return true
  }

  #begin(slot: number, { members, count, picked, answerCount }: Choice, kind: number): void {
    const key = this.#key
    const at = slot * KeyCell.Words
    key[at + KeyCell.Kind] = kind
    key[at + KeyCell.Picked] = picked
    key[at + KeyCell.Count] = count
    key[at + KeyCell.Answers] = answerCount
    for (let i = 0; i < count; i++) key[at + KeyCell.First + i] = members[i]!
    this.#forget(slot)
  }

  #forget(slot: number): void {
    this.at = slot * groupWords
    if (++this.#numbers === numbersMax) {
      this.#numbers = 1
      this.#nodes.fill(0)
      this.#key.fill(0)
    }
    this.#number[slot] = this.#numbers
    for (let word = this.at; word < this.at + groupWords; word++) {
      this.alike[word] = 0
      this.other[word] = 0
      this.mixed[word] = 0
    }
  }
}

function nodeSlot(number: number, node: number): number {
  const hash = Math.imul(number, 0x9e37_79b9) ^ Math.imul(node, 0x85eb_ca6b)
  return ((hash ^ (hash >>> 15)) & (nodeSlots - 1)) * 2
}

function slotOf({ members, count, picked }: Choice, kind: number): number {
  let hash = Math.imul(kind, 0x9e37_79b9) ^ Math.imul(picked, 0x85eb_ca6b)
  for (let i = 0; i < count; i++) hash = Math.imul(hash ^ members[i]!, 0xc2b2_ae35)
  return (hash ^ (hash >>> 16)) & (slots - 1)
}
