// Deltas that a control node gives: each is made once, for all who ask, and a few are kept.
import { assert } from '#lib/assert.ts'
import { fleetLimits } from './limits.ts'
import { makeDelta } from './delta.ts'
import { withBundleFile } from './byte-ranges.ts'

export class BundleDeltas {
  readonly #pathOf: (digest: string) => string
  /** By both digests; the last used is the last. undefined: there is none to give. */
  readonly #made = new Map<string, Promise<Uint8Array | undefined>>()
  readonly #sizes = new Map<string, number>()
  /** The last one that was begun: deltas are made one after the other. */
  #last: Promise<unknown> = Promise.resolve()
  #pending = 0

  constructor(pathOf: (digest: string) => string) {
    this.#pathOf = pathOf
  }

  /** undefined: it has no such bundles, nothing is gained, or too many are asked for. */
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
    // A bundle may come later that is not there yet.
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
