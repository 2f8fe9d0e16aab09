// Decides which of the found members are answered: those that vanish wait a little, and too many
// that vanish at once are held.

export interface MembershipRules {
  /** Share of the members that may vanish at once, 0 to 1. All of them never do by themselves. */
  readonly maxRemoved: number
  /** How long a member must be missing before it goes. */
  readonly removeAfterMs: number
}

export interface Held {
  /** Members that are not found any more, and are answered all the same. */
  readonly missing: number
  /** Members that are answered. */
  readonly members: number
  /** When it began, Unix epoch. */
  readonly sinceMs: number
}

interface Member {
  weight: number
  /** When it was first missing, Unix epoch; 0: it is there. */
  missingSinceMs: number
}

export class Membership {
  readonly #rules: MembershipRules
  readonly #members = new Map<string, Member>()
  #found: ReadonlyMap<string, number> = new Map()
  #held: Held | null = null

  /** @param known weights by address, from before a restart */
  constructor(rules: MembershipRules, known: ReadonlyMap<string, number>) {
    this.#rules = rules
    for (const [address, weight] of known) this.#members.set(address, { weight, missingSinceMs: 0 })
  }

  get held(): Held | null {
    return this.#held
  }

  /** Weights by address. */
  get members(): ReadonlyMap<string, number> {
    return new Map([...this.#members].map(([address, { weight }]) => [address, weight]))
  }

  /** Takes what was found, or looks again at what was found last when `found` is left out. */
  take(nowMs: number, found: ReadonlyMap<string, number> = this.#found): void {
    this.#found = found
    const before = this.#members.size
    const missing: string[] = []
    for (const [address, member] of this.#members) {
      if (found.has(address)) member.missingSinceMs = 0
      else {
        member.missingSinceMs ||= nowMs
        missing.push(address)
      }
    }
    for (const [address, weight] of found) {
      const member = this.#members.get(address)
      if (member === undefined) this.#members.set(address, { weight, missingSinceMs: 0 })
      else member.weight = weight
    }
    // Members in whose place others came are no loss.
    const lost = before - found.size
    if (lost > 0 && (found.size === 0 || lost > this.#rules.maxRemoved * before)) {
      const sinceMs = this.#held?.sinceMs ?? nowMs
      this.#held = { missing: missing.length, members: this.#members.size, sinceMs }
      return
    }
    this.#held = null
    for (const address of missing) {
      const { missingSinceMs } = this.#members.get(address)!
      if (nowMs - missingSinceMs >= this.#rules.removeAfterMs) this.#members.delete(address)
    }
  }

  /** When the next missing member goes, Unix epoch; Infinity: none does by itself. */
  get nextMs(): number {
    if (this.#held !== null) return Infinity
    let next = Infinity
    for (const { missingSinceMs } of this.#members.values()) {
      if (missingSinceMs === 0) continue
      next = Math.min(next, missingSinceMs + this.#rules.removeAfterMs)
    }
    return next
  }

  /** Lets go what is held. @returns false: nothing is */
  accept(): boolean {
    if (this.#held === null) return false
    this.#held = null
    for (const address of this.#members.keys()) {
      if (!this.#found.has(address)) this.#members.delete(address)
    }
    return true
  }
}
