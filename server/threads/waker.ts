// Wakes responders that wait for packets, so that they see a new bundle at once.
import { constants } from 'node:os'
import type { Libc } from '#system/sockets/libc.ts'
import { Control, controlCell } from './responder-control.ts'

/**
 * A signal interrupts a receive with a time-out (signal(7)). This one is ignored by default and
 * rarely sent by others; Go's scheduler uses it in the same way.
 */
const signal = 'SIGURG'
const signalNumber = constants.signals[signal]

/** Without a handler the system would discard the signal, and the receive would go on. */
const handled = (): void => undefined

export class Waker {
  readonly #libc: Libc
  readonly #cells: Int32Array
  readonly #threads: number
  #next = 0

  /**
   * @param cells of responder-control.ts
   * @param threads number of responders
   */
  constructor(libc: Libc, cells: Int32Array, threads: number) {
    this.#libc = libc
    this.#cells = cells
    this.#threads = threads
    // The listener stays: it does nothing, keeps no process alive, and serves all wakers.
    if (!process.listeners(signal).includes(handled)) process.on(signal, handled)
  }

  /**
   * Wakes the next responder, in turn, that does not serve `generation` yet: while it adopts, the
   * others answer, and need not share its core. One that is just about to wait sleeps until its
   * next turn, or until the time-out of its socket.
   */
  wakeNext(generation: number): void {
    for (let tried = 0; tried < this.#threads; tried++) {
      const index = this.#next
      this.#next = (index + 1) % this.#threads
      if (Atomics.load(this.#cells, controlCell(index, Control.Adopted)) >= generation) continue
      if (this.#wake(index)) return
    }
  }

  wakeAll(): void {
    for (let index = 0; index < this.#threads; index++) this.#wake(index)
  }

  /** @returns false when there is no such thread */
  #wake(index: number): boolean {
    const threadId = Atomics.load(this.#cells, controlCell(index, Control.ThreadId))
    return threadId !== 0 && this.#libc.signalThread(threadId, signalNumber) === 0
  }
}
