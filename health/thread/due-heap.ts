// A binary heap of items by due time; any item can be removed.
import { assert } from '#lib/assert.ts'

export interface DueItem {
  dueMs: number
  /** Index in the heap; -1: not in it. Only the heap writes it. */
  heapIndex: number
}

export class DueHeap<Item extends DueItem> {
  readonly #items: Item[] = []

  get first(): Item | undefined {
    return this.#items[0]
  }

  get size(): number {
    return this.#items.length
  }

  add(item: Item): void {
    assert(item.heapIndex < 0, 'an item is in line once')
    this.#place(item, this.#items.length)
    this.#rise(item)
  }

  /** Does nothing when the item is not in the heap. */
  remove(item: Item): void {
    const index = item.heapIndex
    if (index < 0) return
    assert(this.#items[index] === item, 'an item knows its place in line')
    item.heapIndex = -1
    const last = this.#items.pop()!
    if (last === item) return
    this.#place(last, index)
    this.#rise(last)
    this.#sink(last)
  }

  #place(item: Item, index: number): void {
    this.#items[index] = item
    item.heapIndex = index
  }

  #rise(item: Item): void {
    while (item.heapIndex > 0) {
      const index = item.heapIndex
      const parent = this.#items[(index - 1) >> 1]!
      if (parent.dueMs <= item.dueMs) return
      this.#place(item, parent.heapIndex)
      this.#place(parent, index)
    }
  }

  #sink(item: Item): void {
    for (;;) {
      const index = item.heapIndex
      const left = this.#items[2 * index + 1]
      const right = this.#items[2 * index + 2]
      const child = right !== undefined && right.dueMs < left!.dueMs ? right : left
      if (child === undefined || child.dueMs >= item.dueMs) return
      this.#place(item, child.heapIndex)
      this.#place(child, index)
    }
  }
}
