// Makes the deltas that a control node serves: each once for all requests; a few are kept.
import { assert } from '#lib/assert.ts'
import { fleetLimits } from './limits.ts'
import { makeDelta } from './delta.ts'
import { withBundleFile } from './byte-ranges.ts'

export class BundleDeltas {
  readonly #pathOf: (digest: string) => string
  /** By both digests; the last used one is at the end. undefined: there is no delta. */
  readonly #made = new Map<string, Promise<Uint8Array | undefined>>()
  readonly #sizes = new Map<string, number>()
  /** The delta under way: they are made one after the other. */
  #last: Promise<unknown> = Promise.resolve()
  #pending = 0

  constructor(pathOf: (digest: string) => string) {
    this.#pathOf = pathOf
  }

  /** @returns undefined: a bundle is absent, a delta is too large, or too many are requested */
  async get(from: string, to: string): Promise<Uint8Array | undefined> {
    const key = `${from} ${to}`
    const known = this.#made.get(key)
    if (known !== undefined) {
      this.#made.delete(key)
      this.#made.set(key, known)
      return known
    }
    if (this.#pending >= fleetLimits.deltasPendingMax) return undefined
    this.#pending++
    const made = this.#last
      .then(() => this.#make(from, to))
      .catch(() => undefined)
      .finally(() => this.#pending--)
    this.#last = made
    this.#made.set(key, made)
    const bytes = await made
    // The bundle may arrive later.
    if (bytes === undefined) this.#forget(key)
    else this.#sizes.set(key, bytes.length)
    this.#bound()
    return bytes
  }

  #make(from: string, to: string): Promise<Uint8Array | undefined> {
    return withBundleFile(this.#pathOf(from), (old) =>
      withBundleFile(this.#pathOf(to), (next) => makeDelta(old, next)),
    )
  }

  #forget(key: string): void {
    this.#made.delete(key)
    this.#sizes.delete(key)
  }

  #bound(): void {
    const sum = (): number => this.#sizes.values().reduce((total, size) => total + size, 0)
    for (const key of this.#sizes.keys().toArray()) {
      const isOver = sum() > fleetLimits.deltaCacheBytes || this.#sizes.size > fleetLimits.deltasMax
      if (isOver && this.#sizes.size > 1) this.#forget(key)
    }
    assert(this.#sizes.size <= this.#made.size, 'a delta that is counted is kept')
  }
}
