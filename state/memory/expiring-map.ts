// A bounded map whose entries expire by a monotonic clock.
import type { Clock } from '#lib/clock.ts'

interface Entry<T> {
  readonly value: T
  readonly endMs: number
}

/** Pause between two sweeps of a full map. */
const sweepPauseMs = 1_000

export class ExpiringMap<T> {
  readonly #clock: Clock
  readonly #entriesMax: number
  readonly #onDrop: (key: string, value: T) => void
  /** Sorted by time of setting, oldest first. */
  readonly #entries = new Map<string, Entry<T>>()
  #sweptAtMs = Number.NEGATIVE_INFINITY

  /** @param onDrop called with each entry that leaves, for any reason */
  constructor(
    clock: Clock,
    entriesMax: number,
    onDrop: (key: string, value: T) => void = () => undefined,
  ) {
    this.#clock = clock
    this.#entriesMax = entriesMax
    this.#onDrop = onDrop
  }

  get(key: string): { readonly value: T; readonly leftMs: number } | undefined {
    const entry = this.#entries.get(key)
    if (entry === undefined) return undefined
    const leftMs = entry.endMs - this.#clock.monotonicMs()
    if (leftMs > 0) return { value: entry.value, leftMs }
    this.delete(key)
    return undefined
  }

  /** In a full map the oldest entry is dropped. */
  set(key: string, value: T, ttlMs: number): void {
    this.delete(key)
    if (this.#entries.size >= this.#entriesMax) this.#makeRoom()
    this.#entries.set(key, { value, endMs: this.#clock.monotonicMs() + ttlMs })
  }

  /** @returns whether it existed and had not expired */
  delete(key: string): boolean {
    const entry = this.#entries.get(key)
    if (entry === undefined) return false
    this.#entries.delete(key)
    this.#onDrop(key, entry.value)
    return entry.endMs > this.#clock.monotonicMs()
  }

  get size(): number {
    return this.#entries.size
  }

  keys(): readonly string[] {
    return [...this.#entries.keys()]
  }

  #makeRoom(): void {
    const nowMs = this.#clock.monotonicMs()
    // A sweep for each new entry would make a full map slow.
    if (nowMs - this.#sweptAtMs >= sweepPauseMs) {
      this.#sweptAtMs = nowMs
      for (const key of this.keys()) this.get(key)
    }
    for (const key of this.#entries.keys()) {
      if (this.#entries.size < this.#entriesMax) return
      this.delete(key)
    }
  }
}
