// Holds very many short lists in two arrays, instead of an array for each.

export class Chains<T> {
  readonly #items: T[] = []
  /** For each item the index of the next one of its list; for the last, that of the first. */
  readonly #next: number[] = []

  /** All items in the order of their arrival. */
  get items(): readonly T[] {
    return this.#items
  }

  /**
   * @param list the last result of `add` for the list; -1: it is empty
   *
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

  /** The items of a list in the order of their arrival. */
  of(list: number): T[] {
    const found: T[] = []
    if (list < 0) return found
    for (let at = this.#next[list]!; ; at = this.#next[at]!) {
      found.push(this.#items[at]!)
      if (at === list) return found
    }
  }
}
