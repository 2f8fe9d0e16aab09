// Makes a list again and again: while its items stay the same, it is the same list.

/** A list with as many items as before takes memory once, and none while nothing changes. */
export class SteadyList<T> {
  #last: readonly T[] = []
  /** undefined: so far the items are those of the list before. */
  #next: T[] | undefined
  #count = 0

  /** A list that was begun before, and came to nothing, is forgotten. */
  begin(): void {
    this.#next = undefined
    this.#count = 0
  }

  /** The next item of the list that is being made. */
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

  /** Ends the list, and begins the next one. What was returned before stays as it is. */
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
