// Stores the answer of a service that depends on one table for each value of that table: a column
// for each pool and policy, filled on demand, and cleared when the candidates change.
import { serviceCell } from '#bundle/format/bundle.ts'
import type { Bundle } from '#bundle/format/bundle.ts'
import * as cells from '#bundle/format/cells.ts'
import { firstPolicyCode } from '#bundle/format/routing-cells.ts'
import { ChoiceMemory } from './choice-memory.ts'

// Local constants are faster than imports: see answer/answer.ts.
const { NodeCell } = cells

/** The head of a column, in words. */
const Head = { Words: 3, Version: 0, Kinds: 1, Candidates: 2 } as const
/**
 * A column has an octet for each value, its kind; then the kinds. `Alike`: a bit for each group
 * whose values are all of this kind.
 */
const Kind = { Words: 10, Action: 0, Member: 1, Alike: 2 } as const
/** Greatest kind in an octet; 0: no client has asked for the value. */
const kindsMax = 255
/** Kinds besides a member's region and country: one for each continent, and two more. */
const commonKinds = 9
/**
 * Size of all columns together: 32 MiB. A service without a column runs its steps for each client.
 */
const wordsMax = 8_388_608
/** About 60 µs; beyond it the scope is longer than necessary, never shorter. */
const effortMax = 16_384

/** Stored choices of all policies that are bound together, in one thread. */
export class TableChoices {
  /** By service * 2 + family: its column plus 1; 0 when it has none. */
  readonly #columnOf: Int32Array
  /** By column: where it begins, and how many kinds fit. */
  readonly #placeOf: Int32Array
  readonly #roomOf: Uint8Array
  readonly #heads: Int32Array
  readonly #memory: ChoiceMemory
  readonly #words: Int32Array
  readonly #octets: Uint8Array
  /** The open column: its head, its octets, its kinds. */
  #head = 0
  #octetsAt = 0
  #kindsAt = 0
  #room = 0
  /** Candidates that may still be examined for this answer, to learn kinds. */
  effort = 0

  /** @param valuesOf number of table values, by row of a policy that depends on a table */
  constructor(bundle: Bundle, valuesOf: ReadonlyMap<number, number>, memory = new ChoiceMemory()) {
    const { services, pools } = bundle.counts
    this.#columnOf = new Int32Array(services * 2)
    const known = new Map<number, number>()
    const places: number[] = []
    const rooms: number[] = []
    let end = 0
    for (let service = 0; service < services; service++) {
      const policy = serviceCell(bundle, service, NodeCell.Algorithm) - firstPolicyCode
      const values = valuesOf.get(policy)
      const pool = serviceCell(bundle, service, NodeCell.Pool) - 1
      if (values === undefined || pool < 0) continue
      for (const [family, counts] of [bundle.poolCount4, bundle.poolCount6].entries()) {
        const members = counts[pool]!
        const room = Math.min(kindsMax, members * 2 + commonKinds)
        const words = ((values + 3) >>> 2) + room * Kind.Words
        const key = (policy * pools + pool) * 2 + family
        let column = known.get(key)
        if (column === undefined) {
          if (members === 0 || end + words > wordsMax) continue
          column = places.push(end) - 1
          rooms.push(room)
          known.set(key, column)
          end += words
        }
        this.#columnOf[service * 2 + family] = column + 1
      }
    }
    this.#placeOf = Int32Array.from(places)
    this.#roomOf = Uint8Array.from(rooms)
    this.#heads = new Int32Array(places.length * Head.Words)
    this.#memory = memory
    this.#words = memory.reserve(end)
    this.#octets = new Uint8Array(this.#words.buffer)
  }

  /**
   * Opens the column of a service.
   *
   * @param version of the pool's lists, see PoolCell: it changes with the candidates
   * @param values of the table
   * @returns false: it has no column
   */
  open(service: number, family: number, version: number, values: number): boolean {
    const column = this.#columnOf[service * 2 + family]! - 1
    if (column < 0) return false
    const heads = this.#heads
    if (this.#memory.owner !== this) {
      heads.fill(0)
      this.#memory.owner = this
    }
    const at = this.#placeOf[column]!
    const valueWords = (values + 3) >>> 2
    this.#head = column * Head.Words
    this.#octetsAt = at * 4
    this.#kindsAt = at + valueWords - Kind.Words
    this.#room = this.#roomOf[column]!
    this.effort = effortMax
    // Stored plus one, so that 0 means empty.
    const stored = (version + 1) | 0
    if (heads[this.#head + Head.Version] === stored) return true
    this.#words.fill(0, at, at + valueWords)
    heads[this.#head + Head.Version] = stored
    heads[this.#head + Head.Kinds] = 0
    heads[this.#head + Head.Candidates] = 0
    return true
  }

  /** @returns the kind; 0: not known */
  kindOf(value: number): number {
    return this.#octets[this.#octetsAt + value]!
  }

  /** Number of candidates of the pool; 0 before anything is learned. */
  candidates(): number {
    return this.#heads[this.#head + Head.Candidates]!
  }

  /** Stores the action of a value. @returns its kind; 0 when no more kinds fit */
  learn(value: number, action: number, candidates: number): number {
    const words = this.#words
    const heads = this.#heads
    heads[this.#head + Head.Candidates] = candidates
    const count = heads[this.#head + Head.Kinds]!
    let kind = 1
    while (kind <= count && words[this.#kindsAt + kind * Kind.Words] !== action) kind++
    if (kind > this.#room) return 0
    if (kind > count) {
      const at = this.#kindsAt + kind * Kind.Words
      heads[this.#head + Head.Kinds] = kind
      words.fill(0, at, at + Kind.Words)
      words[at] = action
    }
    this.#octets[this.#octetsAt + value] = kind
    return kind
  }

  action(kind: number): number {
    return this.#words[this.#kindsAt + kind * Kind.Words + Kind.Action]!
  }

  /** Returns the member that is answered for a kind, or -1 when it is not known. */
  member(kind: number): number {
    return this.#words[this.#kindsAt + kind * Kind.Words + Kind.Member]! - 1
  }

  keepMember(kind: number, member: number): void {
    this.#words[this.#kindsAt + kind * Kind.Words + Kind.Member] = member + 1
  }

  /** Returns which of 32 groups, given as bits, are not known to be of this kind as a whole. */
  openGroups(kind: number, word: number, groups: number): number {
    return groups & ~this.#words[this.#kindsAt + kind * Kind.Words + Kind.Alike + word]!
  }

  keepAlike(kind: number, group: number): void {
    const at = this.#kindsAt + kind * Kind.Words + Kind.Alike + (group >>> 5)
    this.#words[at]! |= 1 << (group & 31)
  }
}
