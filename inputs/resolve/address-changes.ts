// Reports names whose addresses have changed, several at a time, and has the addresses stored.
import type { Clock } from '#lib/clock.ts'
import type { After } from '#lib/timer.ts'

interface AddressChangesParts {
  readonly clock: Pick<Clock, 'monotonicMs'>
  readonly after: After
  /** How long a change waits for others. */
  readonly batchMs: number
  /** Stores all addresses; null: nothing is stored. */
  readonly store: (() => void) | null
}

export class AddressChanges {
  readonly #parts: AddressChangesParts
  readonly #handlers: ((names: readonly string[]) => void)[] = []
  readonly #changed = new Set<string>()
  #callOffReport: (() => void) | undefined
  #callOffStore: (() => void) | undefined
  /** By the monotonic clock. */
  #storeDueMs = Infinity

  constructor(parts: AddressChangesParts) {
    this.#parts = parts
  }

  onChange(handler: (names: readonly string[]) => void): void {
    this.#handlers.push(handler)
  }

  add(name: string): void {
    this.#changed.add(name)
    this.#callOffReport ??= this.#parts.after(this.#parts.batchMs, () => {
      this.#callOffReport = undefined
      const changed = [...this.#changed]
      this.#changed.clear()
      for (const handler of this.#handlers) handler(changed)
    })
  }

  storeWithin(delayMs: number): void {
    const dueMs = this.#parts.clock.monotonicMs() + delayMs
    if (this.#parts.store === null || dueMs >= this.#storeDueMs) return
    this.#callOffStore?.()
    this.#storeDueMs = dueMs
    this.#callOffStore = this.#parts.after(delayMs, () => this.#store())
  }

  /** Stores what is due, and reports nothing any more. */
  stop(): void {
    this.#callOffReport?.()
    if (this.#callOffStore !== undefined) this.#store()
  }

  #store(): void {
    this.#callOffStore?.()
    this.#callOffStore = undefined
    this.#storeDueMs = Infinity
    this.#parts.store?.()
  }
}
