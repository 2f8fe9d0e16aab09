// Aho-Corasick automaton: finds which of many substrings a text contains, in one pass.

/** Key of the transition from `state` by `code`. */
const edge = (state: number, code: number): number => state * 0x1_0000 + code

export class AhoCorasick {
  readonly #next = new Map<number, number>()
  /** By state: the state of its longest proper suffix that is also a prefix of a part. */
  readonly #shorter: number[] = [0]
  /** By state: the parts that end here. */
  readonly #ends: number[][] = [[]]
  /** By state: the next state along `#shorter` at which a part ends, or 0. */
  readonly #nextEnd: number[] = [0]

  /** @param parts none of them empty; duplicates are each found */
  constructor(parts: readonly string[]) {
    for (const [index, part] of parts.entries()) this.#add(part, index)
    this.#link(parts)
  }

  /** @param found receives the indexes of the parts that `text` contains */
  addFound(text: string, found: Set<number>): void {
    let state = 0
    for (let i = 0; i < text.length; i++) {
      state = this.#step(state, text.charCodeAt(i))
      let at = this.#ends[state]!.length > 0 ? state : this.#nextEnd[state]!
      for (; at !== 0; at = this.#nextEnd[at]!)
        for (const index of this.#ends[at]!) found.add(index)
    }
  }

  #add(part: string, index: number): void {
    let state = 0
    for (let i = 0; i < part.length; i++) {
      const key = edge(state, part.charCodeAt(i))
      let next = this.#next.get(key)
      if (next === undefined) {
        next = this.#ends.push([]) - 1
        this.#next.set(key, next)
      }
      state = next
    }
    this.#ends[state]!.push(index)
  }

  /** Links states in order of length: a shorter state is linked before a longer one. */
  #link(parts: readonly string[]): void {
    const longest = parts.reduce((most, part) => Math.max(most, part.length), 0)
    const states = new Uint32Array(parts.length)
    for (let depth = 0; depth < longest; depth++) {
      for (const [index, part] of parts.entries()) {
        if (depth >= part.length) continue
        const code = part.charCodeAt(depth)
        const before = states[index]!
        const state = this.#next.get(edge(before, code))!
        states[index] = state
        // Linked already, through another part with the same prefix.
        if (this.#shorter[state] !== undefined) continue
        const shorter = before === 0 ? 0 : this.#step(this.#shorter[before]!, code)
        this.#shorter[state] = shorter
        this.#nextEnd[state] = this.#ends[shorter]!.length > 0 ? shorter : this.#nextEnd[shorter]!
      }
    }
  }

  #step(from: number, code: number): number {
    for (let state = from; ; state = this.#shorter[state]!) {
      const next = this.#next.get(edge(state, code))
      if (next !== undefined) return next
      if (state === 0) return 0
    }
  }
}
