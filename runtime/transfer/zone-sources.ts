// What transfers read on a thread: the generation that it serves, and older ones that a running
// transfer still needs.
import type { ServingView } from '#runtime/answer/serving-view.ts'
import { ZoneSource } from './zone-source.ts'

export class ZoneSources {
  #view: ServingView | undefined
  #current: ZoneSource | undefined
  /** Of this view, with an earlier serial, and of views before it. */
  #older: ZoneSource[] = []

  /** The thread serves `view` from now on, and lets the memory of the one before go. */
  adopt(view: ServingView): void {
    this.#retire()
    for (const source of this.#older) source.leaveMemory()
    this.#view = view
  }

  #retire(): void {
    this.#older = this.#older.filter((source) => source.isUsed)
    if (this.#current?.isUsed === true) this.#older.push(this.#current)
    this.#current = undefined
  }

  /** undefined before the first generation. */
  current(): ZoneSource | undefined {
    if (this.#view === undefined) return undefined
    const { bundle, dynamic, state } = this.#view
    const serial = state.soaSerial[0]!
    // The serial may rise while a generation serves.
    if (this.#current !== undefined && this.#current.serial !== serial) this.#retire()
    this.#current ??= new ZoneSource(bundle, dynamic, serial)
    return this.#current
  }
}
