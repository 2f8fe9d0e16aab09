// Decides which members this node probes when `health.probers` leaves each to a few nodes of a
// site.
import { comesBefore, countBefore, memberHash, rankedNode } from './rendezvous.ts'
import type { RankedNode } from './rendezvous.ts'

interface ProberShareParts {
  /** Name of this node. */
  readonly node: string
  /** How many nodes of the site probe a member; 0: all. */
  readonly probers: number
}

/**
 * A node probes a member when it is among the first `probers` live nodes. It gives a member up only
 * when as many nodes before it have a verdict on it, and takes over members that others should
 * probe and long have no verdict on: the others may have another bundle, or no route to the member.
 */
export class ProberShare {
  readonly #own: RankedNode
  readonly #probers: number
  #others: readonly RankedNode[] = []
  /** Keys of members that are left to others. */
  #left = new Set<string>()
  /** Members of `#left` on which too few nodes have a verdict, and since when. */
  readonly #lacking = new Map<string, number>()

  constructor({ node, probers }: ProberShareParts) {
    this.#own = rankedNode(node)
    this.#probers = probers
  }

  probes(key: string): boolean {
    return !this.#left.has(key)
  }

  /** @param keys of all members: a new one is probed until others have a verdict on it */
  keepOnly(keys: ReadonlySet<string>): void {
    this.#left = new Set([...this.#left].filter((key) => keys.has(key)))
    for (const key of this.#lacking.keys()) if (!keys.has(key)) this.#lacking.delete(key)
  }

  /**
   * @param names other live nodes of the site
   *
   * @returns true when they differ from before
   */
  setOthers(names: readonly string[]): boolean {
    const before = new Set(this.#others.map(({ name }) => name))
    const isSame = names.length === before.size && names.every((name) => before.has(name))
    if (!isSame) this.#others = names.map(rankedNode)
    return !isSame
  }

  /**
   * Decides about one member.
   *
   * @param tellers nodes of the site whose verdict on it is fresh
   * @param patienceMs how long the next in line waits for missing verdicts
   * @returns true when the decision changed
   */
  judge(key: string, tellers: readonly string[], patienceMs: number, nowMs: number): boolean {
    if (this.#probers === 0) return false
    const wasOurs = this.probes(key)
    const isOurs = this.#isOurs(key, wasOurs, tellers, patienceMs, nowMs)
    if (isOurs) this.#left.delete(key)
    else this.#left.add(key)
    return isOurs !== wasOurs
  }

  #isOurs(
    key: string,
    wasOurs: boolean,
    tellers: readonly string[],
    patienceMs: number,
    nowMs: number,
  ): boolean {
    const member = memberHash(key)
    const before = countBefore(this.#own, this.#others, member)
    const isFirst = before < this.#probers
    const isCovered = !isFirst && this.#tellersBefore(member, tellers) >= this.#probers
    if (isFirst || isCovered || wasOurs) {
      this.#lacking.delete(key)
      return !isCovered
    }
    const sinceMs = this.#lacking.get(key) ?? nowMs
    // Nodes take over one after the other, so that not all of them take the same member.
    const turn = before - this.#probers + 1
    const isOurTurn = nowMs - sinceMs >= patienceMs * turn
    if (isOurTurn) this.#lacking.delete(key)
    else this.#lacking.set(key, sinceMs)
    return isOurTurn
  }

  #tellersBefore(member: number, tellers: readonly string[]): number {
    const known = this.#others.filter(({ name }) => tellers.includes(name))
    return known.filter((one) => comesBefore(one, this.#own, member)).length
  }
}
