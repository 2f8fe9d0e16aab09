// Gives each pool a position in the model, and keeps it there while other pools come and go.
import type { Entry } from '#compiler/tree/tree.ts'
import { editsOf } from '#lib/sequence/list-edits.ts'

type Pool = Entry<'Pool'>

/**
 * A new pool takes the position of one that went, or the next one; where nothing came, the last
 * pool takes it. So services, which name positions, are lowered again only where their own pool
 * has moved: in the order of paths a new pool would move half of all.
 */
export class PoolSlots {
  #pools: readonly Pool[] = []
  readonly #at = new Map<string, number>()
  #placed: Pool[] = []

  /** By position; changed by the next call. */
  get placed(): readonly Pool[] {
    return this.#placed
  }

  /** Position of the pool of that name. */
  get at(): ReadonlyMap<string, number> {
    return this.#at
  }

  /**
   * @param pools with unique names, sorted by path
   * @returns whether positions of before still hold, those beyond the number of pools excepted
   */
  place(pools: readonly Pool[]): boolean {
    const before = this.#pools
    this.#pools = pools
    if (before === pools) return true
    const edits = editsOf(before, pools)
    if (edits === undefined) {
      this.#at.clear()
      for (const [slot, pool] of pools.entries()) this.#at.set(nameOf(pool), slot)
      this.#placed = [...pools]
      return false
    }
    const free = new Map(edits.went.map((i) => [nameOf(before[i]!), this.#slotOf(before[i]!)]))
    const came: Pool[] = []
    for (const i of edits.came) {
      const slot = free.get(nameOf(pools[i]!))
      if (slot === undefined) came.push(pools[i]!)
      else this.#placed[slot] = pools[i]!
      free.delete(nameOf(pools[i]!))
    }
    for (const name of free.keys()) this.#at.delete(name)
    this.#fill(
      [...free.values()].sort((a, b) => a - b),
      came,
    )
    return true
  }

  #fill(free: number[], came: readonly Pool[]): void {
    for (const pool of came) this.#put(pool, free.shift() ?? this.#placed.length)
    for (let slot = free.pop(); slot !== undefined; slot = free.pop()) {
      const last = this.#placed.pop()!
      if (slot < this.#placed.length) this.#put(last, slot)
    }
  }

  #put(pool: Pool, slot: number): void {
    this.#placed[slot] = pool
    this.#at.set(nameOf(pool), slot)
  }

  #slotOf(pool: Pool): number {
    return this.#at.get(nameOf(pool))!
  }
}

function nameOf({ object }: Pool): string {
  return object.metadata.name
}
