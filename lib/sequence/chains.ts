// Short lists in two arrays, in the place of an array for each: there may be a million of them.

export class Chains<T> {
  readonly #items: T[] = []
  /** For each item the next one of its list; for the last the first. */
  readonly #next: number[] = []

  /** The items of all lists, in the order in which they came. */
  get items(): readonly T[] {
    return this.#items
  }

  /**
   * @param list what `add` returned for the last item of the list; -1: it has none yet
   * @returns the list from now on
   */
  add(list: number, item: T): number {
    const at = this.#items.push(item) - 1
    if (list < 0) this.#next.push(at)
    else {
      this.#next.push(this.#next[list]!)
      this.#next[list] = at
    }
    return at
  }

  /** The items of a list, in the order in which they came. */
  of(list: number): T[] {
    const found: T[] = []
    if (list < 0) return found
    for (let at = this.#next[list]!; ; at = this.#next[at]!) {
      found.push(this.#items[at]!)
      if (at === list) return found
    }
  }
}
