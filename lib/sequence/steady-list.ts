// Builds a list again and again, and returns the same list while its items are the same.

/** Memory is taken once for lists of equal length, and none while nothing changes. */
export class SteadyList<T> {
  #last: readonly T[] = []
  /** undefined: so far the items equal those of the last list. */
  #next: T[] | undefined
  #count = 0

  /** Drops an unfinished list. */
  begin(): void {
    this.#next = undefined
    this.#count = 0
  }

  /** Adds the next item. */
  add(item: T): void {
    if (this.#next === undefined) {
      if (this.#count < this.#last.length && this.#last[this.#count] === item) {
        this.#count++
        return
      }
      this.#next = this.#copy(this.#last.length + 1)
    }
    this.#next[this.#count++] = item
  }

  /** Finishes the list. Earlier lists stay as they are. */
  take(): readonly T[] {
    const isShorter = this.#count < this.#last.length
    const list = this.#next ?? (isShorter ? this.#copy(this.#count) : this.#last)
    if (this.#next !== undefined) this.#next.length = this.#count
    this.begin()
    this.#last = list
    return list
  }

  #copy(size: number): T[] {
    const list = new Array<T>(size)
    for (let i = 0; i < this.#count; i++) list[i] = this.#last[i]!
    return list
  }
}
