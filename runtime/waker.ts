// Gets responders out of their wait for packets, so that they see at once what they are to serve.
import { constants } from 'node:os'
import type { Libc } from './libc.ts'
import { Control, controlCell } from './responder-control.ts'

/**
 * A signal ends a receive that has a time-out (signal(7)). This one is ignored where nobody handles
 * it, and nobody sends it for another reason; Go's scheduler uses it the same way.
 */
const signal = 'SIGURG'
const signalNumber = constants.signals[signal]

/** Without a handler the system would throw the signal away, and the receive would go on. */
const handled = (): void => undefined

export class Waker {
  readonly #libc: Libc
  readonly #cells: Int32Array
  readonly #threads: number

  /**
   * @param cells of responder-control.ts
   * @param threads how many responders
   */
  constructor(libc: Libc, cells: Int32Array, threads: number) {
    this.#libc = libc
    this.#cells = cells
    this.#threads = threads
    // It stays: it does nothing, keeps no process alive, and is the same for all.
    if (!process.listeners(signal).includes(handled)) process.on(signal, handled)
  }

  /**
   * Wakes the responders that do not serve `generation` yet; Infinity: all. One that is just about
   * to wait sleeps on, and looks by itself when the time-out of its socket is over.
   */
  wake(generation: number): void {
    for (let i = 0; i < this.#threads; i++) {
      const adopted = Atomics.load(this.#cells, controlCell(i, Control.Adopted))
      const threadId = Atomics.load(this.#cells, controlCell(i, Control.ThreadId))
      if (adopted < generation && threadId !== 0) {
        this.#libc.signalThread(threadId, signalNumber)
      }
    }
  }
}
