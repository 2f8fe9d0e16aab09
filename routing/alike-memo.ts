// Which values of a table were found alike for the query at work: neighbours often have few values
// between them, and each is compared with the client's once.

export const Verdict = { Unknown: -1, Other: 0, Alike: 1 } as const
export type Verdict = (typeof Verdict)[keyof typeof Verdict]

/** A power of two. */
const slots = 256
const roundsMax = 2 ** 30

/** One per thread. Values that share a slot push each other out. */
export class AlikeMemo {
  readonly #value = new Uint32Array(slots)
  /** `round * 2`, and 1 more where the value is alike. */
  readonly #mark = new Uint32Array(slots)
  #round = 0
  /** What may still be spent on looking around. */
  effort = 0

  /** Forgets everything. */
  clear(effort: number): void {
    this.effort = effort
    this.#round++
    if (this.#round < roundsMax) return
    this.#mark.fill(0)
    this.#round = 1
  }

  find(value: number): Verdict {
    const slot = value & (slots - 1)
    const mark = this.#mark[slot]!
    if (mark >>> 1 !== this.#round || this.#value[slot] !== value) return Verdict.Unknown
    return (mark & 1) as Verdict
  }

  keep(value: number, isAlike: boolean): void {
    const slot = value & (slots - 1)
    this.#value[slot] = value
    this.#mark[slot] = this.#round * 2 + (isAlike ? 1 : 0)
  }
}
