// An index of entries by key that is updated from tree to tree; the first entry of a key wins.
import { editsOf } from '#lib/sequence/list-edits.ts'

/** Updated in place: a new map of ten thousand entries takes a millisecond and a megabyte. */
export class EntryIndex<E extends object> {
  readonly #keysOf: (entry: E) => readonly string[]
  #entries: readonly E[] = []
  #first = new Map<string, E>()
  /** Keys are unique, so that no entry is the first of several. */
  #isUnique = true

  constructor(keysOf: (entry: E) => readonly string[]) {
    this.#keysOf = keysOf
  }

  /** Whether all keys of these entries are unique. */
  isUnique(entries: readonly E[]): boolean {
    this.firstOf(entries)
    return this.#isUnique
  }

  /** Unordered. Changed by the next call. */
  firstOf(entries: readonly E[]): ReadonlyMap<string, E> {
    if (this.#isUnique && entries === this.#entries) return this.#first
    this.#isUnique = (this.#isUnique && this.#edit(entries)) || this.#build(entries)
    this.#entries = entries
    return this.#first
  }

  /** @returns false when the map must be rebuilt */
  #edit(entries: readonly E[]): boolean {
    const edits = editsOf(this.#entries, entries)
    if (edits === undefined) return false
    for (const at of edits.went) {
      for (const key of this.#keysOf(this.#entries[at]!)) this.#first.delete(key)
    }
    for (const at of edits.came) {
      for (const key of this.#keysOf(entries[at]!)) {
        if (this.#first.has(key)) return false
        this.#first.set(key, entries[at]!)
      }
    }
    return true
  }

  /** @returns whether the keys are unique */
  #build(entries: readonly E[]): boolean {
    this.#first = new Map()
    let isUnique = true
    for (const entry of entries) {
      for (const key of this.#keysOf(entry)) {
        if (this.#first.has(key)) isUnique = false
        else this.#first.set(key, entry)
      }
    }
    return isUnique
  }
}
