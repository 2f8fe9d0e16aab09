// Per-thread cache: the member that a policy answers for a value of a table, until the candidates
// change.

/** Entries. A power of two. */
const slots = 8_192
/** Half a cache line: what an outcome is known by, then what it is. */
const Entry = {
  Words: 8,
  Era: 0,
  List: 1,
  Policy: 2,
  Version: 3,
  Value: 4,
  Action: 5,
  Member: 6,
  IsOnly: 7,
} as const

/** One per thread. */
export class Outcomes {
  readonly #entries = new Int32Array(slots * Entry.Words)
  /** Entries of another era are forgotten. */
  #era = 1
  /** What the policies of this era are bound to. */
  #owner: object | null = null
  // What is asked about.
  #list = 0
  #policyRow = 0
  #version = 0
  #first = 0
  // The outcome that was found or kept last.
  /** What the step that looks at the table does, in its own terms. */
  action = 0
  member = 0
  /** True: there was no other candidate. */
  isOnly = false

  clear(): void {
    this.#era++
  }

  /**
   * From now on asks about one policy and one list of candidates.
   *
   * @param owner what all policies of a bundle are bound to: outcomes of another one are forgotten
   * @param version of the pool's lists, see PoolCell: other candidates have another one
   */
  open(owner: object, policyRow: number, poolIndex: number, family: number, version: number): void {
    if (owner !== this.#owner) {
      this.#owner = owner
      this.clear()
    }
    this.#list = poolIndex * 2 + family
    this.#policyRow = policyRow
    this.#version = version
    const hash = Math.imul(this.#list, 0x9e37_79b9) ^ Math.imul(policyRow, 0x85eb_ca6b)
    this.#first = hash ^ (hash >>> 15)
  }

  /** Sets `action`, `member` and `isOnly`. @returns false: the outcome is not known */
  find(value: number): boolean {
    const entries = this.#entries
    const at = this.#entryOf(value)
    const isKnown =
      entries[at + Entry.Value] === value &&
      entries[at + Entry.Version] === this.#version &&
      entries[at + Entry.List] === this.#list &&
      entries[at + Entry.Policy] === this.#policyRow &&
      entries[at + Entry.Era] === this.#era
    if (!isKnown) return false
    this.action = entries[at + Entry.Action]!
    this.member = entries[at + Entry.Member]!
    this.isOnly = entries[at + Entry.IsOnly] === 1
    return true
  }

  /** Keeps what `action`, `member` and `isOnly` say. */
  keep(value: number): void {
    const entries = this.#entries
    const at = this.#entryOf(value)
    entries[at + Entry.Era] = this.#era
    entries[at + Entry.List] = this.#list
    entries[at + Entry.Policy] = this.#policyRow
    entries[at + Entry.Version] = this.#version
    entries[at + Entry.Value] = value
    entries[at + Entry.Action] = this.action
    entries[at + Entry.Member] = this.member
    entries[at + Entry.IsOnly] = this.isOnly ? 1 : 0
  }

  /** Values of one list lie side by side: only those of different lists push each other out. */
  #entryOf(value: number): number {
    return ((this.#first + value) & (slots - 1)) * Entry.Words
  }
}
