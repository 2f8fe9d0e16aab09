// Decides which of the found members are answered. Members that vanish are dropped after a while,
// or held if too many vanish at once.

interface MembershipRules {
  /** Share of the members that may vanish at once, 0 to 1. All of them never do by themselves. */
  readonly maxRemoved: number
  /** How long a member must be missing before it goes. */
  readonly removeAfterMs: number
  /** How often the source is asked. */
  readonly intervalMs: number
}

export interface Held {
  /** Vanished members that are still answered. */
  readonly missing: number
  /** Answered members. */
  readonly members: number
  /** When the hold began, Unix epoch. */
  readonly sinceMs: number
}

interface Member {
  weight: number
  /** When the member was first missing, Unix epoch; 0: it is there. */
  missingSinceMs: number
  /** True: the member is missing, and does not go by itself. */
  isHeld: boolean
}

/** New members count for `maxRemoved` after this many intervals. */
const settlingIntervals = 2

export class Membership {
  readonly #rules: MembershipRules
  readonly #members = new Map<string, Member>()
  #found: ReadonlyMap<string, number> = new Map()
  #held: Held | null = null
  /** Number of members when the hold began; 0: none are held. */
  #heldOf = 0
  /** Numbers of members with their last times, largest first, over `removeAfterMs`. */
  readonly #sizes: { readonly size: number; readonly untilMs: number }[] = []
  /** Number of members that were there for long enough. */
  #settled: number
  /** A larger number, and since when. */
  #growth: { readonly size: number; readonly sinceMs: number } | undefined

  /** @param known weights by address, from before a restart */
  constructor(rules: MembershipRules, known: ReadonlyMap<string, number>) {
    this.#rules = rules
    this.#settled = known.size
    for (const [address, weight] of known) this.#add(address, weight)
  }

  get held(): Held | null {
    return this.#held
  }

  get findsNobody(): boolean {
    return this.#found.size === 0
  }

  /** Weights by address. */
  get members(): ReadonlyMap<string, number> {
    return new Map([...this.#members].map(([address, { weight }]) => [address, weight]))
  }

  /** Whether the last answer of the source had this member. */
  isThere(address: string): boolean {
    return this.#members.get(address)?.missingSinceMs === 0
  }

  /** Takes what the source found; without `found`, only removes members whose time has come. */
  take(nowMs: number, found?: ReadonlyMap<string, number>): void {
    if (found !== undefined) {
      this.#found = found
      this.#compare(nowMs, found)
    }
    let missing = 0
    for (const [address, member] of this.#members) {
      // After a clock was set back: otherwise it would stay until that time comes again.
      member.missingSinceMs = Math.min(member.missingSinceMs, nowMs)
      const { missingSinceMs, isHeld } = member
      if (isHeld) missing++
      else if (missingSinceMs > 0 && nowMs - missingSinceMs >= this.#rules.removeAfterMs) {
        this.#members.delete(address)
      }
    }
    const sinceMs = this.#held?.sinceMs ?? nowMs
    this.#held = missing === 0 ? null : { missing, members: this.#members.size, sinceMs }
    if (missing === 0) this.#heldOf = 0
  }

  /** When the next missing member goes, Unix epoch; Infinity: none does by itself. */
  get nextMs(): number {
    let next = Infinity
    for (const { missingSinceMs, isHeld } of this.#members.values()) {
      if (missingSinceMs === 0 || isHeld) continue
      next = Math.min(next, missingSinceMs + this.#rules.removeAfterMs)
    }
    return next
  }

  /** Lets go what is held. @returns false: nothing is */
  accept(): boolean {
    if (this.#held === null) return false
    this.#held = null
    this.#heldOf = 0
    this.#sizes.length = 0
    this.#settled = this.#found.size
    this.#growth = undefined
    for (const address of this.#members.keys()) {
      if (!this.#found.has(address)) this.#members.delete(address)
    }
    return true
  }

  #compare(nowMs: number, found: ReadonlyMap<string, number>): void {
    const wasEmpty = this.#members.size === 0
    const before = this.#sizeBefore(nowMs)
    const gone: Member[] = []
    for (const [address, member] of this.#members) {
      if (found.has(address) || member.missingSinceMs > 0) continue
      member.missingSinceMs = nowMs
      gone.push(member)
    }
    let came = 0
    for (const [address, weight] of found) {
      if (!this.isThere(address)) came++
      this.#add(address, weight)
    }
    const mayGo = found.size > 0 && before - found.size <= this.#rules.maxRemoved * before
    if (mayGo) {
      for (const member of this.#members.values()) member.isHeld = false
      if (this.#heldOf > 0) this.#settled = Math.min(found.size, this.#heldOf)
    } else if (gone.length > came) {
      // Replaced members are no loss, and go.
      for (const member of gone) member.isHeld = true
      this.#heldOf = Math.max(before, this.#heldOf)
      this.#letGoOldest()
    }
    if (wasEmpty) this.#settled = found.size
    this.#noteGrowth(nowMs, found.size)
  }

  /**
   * The number of members with which an answer is compared: the most in a while, so that several
   * small losses count as a large one, but without those that came a moment ago, as a wrong answer
   * may have many.
   */
  #sizeBefore(nowMs: number): number {
    const sizes = this.#sizes
    let size = 0
    for (const { missingSinceMs } of this.#members.values()) if (missingSinceMs === 0) size++
    while ((sizes.at(-1)?.size ?? Infinity) <= size) sizes.pop()
    sizes.push({ size, untilMs: nowMs })
    while (nowMs - sizes[0]!.untilMs > this.#rules.removeAfterMs) sizes.shift()
    const growth = this.#growth
    const settlingMs = settlingIntervals * this.#rules.intervalMs
    if (growth !== undefined && nowMs - growth.sinceMs >= settlingMs) this.#settled = growth.size
    this.#settled = Math.min(this.#settled, sizes[0]!.size)
    return Math.max(this.#settled, this.#heldOf)
  }

  #noteGrowth(nowMs: number, size: number): void {
    if (size <= this.#settled) this.#growth = undefined
    else {
      const { sinceMs = nowMs, size: least = size } = this.#growth ?? {}
      this.#growth = { sinceMs, size: Math.min(least, size) }
    }
  }

  /** No more are held than there were, however often others come and go meanwhile. */
  #letGoOldest(): void {
    const held = [...this.#members].filter(([, { isHeld }]) => isHeld)
    const tooMany = held.length - this.#heldOf
    if (tooMany <= 0) return
    const oldest = held.sort(([, a], [, b]) => a.missingSinceMs - b.missingSinceMs)
    for (const [address] of oldest.slice(0, tooMany)) this.#members.delete(address)
  }

  #add(address: string, weight: number): void {
    this.#members.set(address, { weight, missingSinceMs: 0, isHeld: false })
  }
}
