// Writes that wait: all that came while a commit was under way become the next one.
import { err } from '#lib/result.ts'
import { gitLimits } from '../limits.ts'
import type { Pending } from './select.ts'

export interface WriteQueueParts {
  /** Settles each of the batch. Must not throw. */
  readonly write: (batch: readonly Pending[]) => Promise<void>
}

export class WriteQueue {
  readonly #write: WriteQueueParts['write']
  #waiting: Pending[] = []
  #running: Promise<void> | undefined
  #isStopped = false

  constructor({ write }: WriteQueueParts) {
    this.#write = write
  }

  add(pending: Pending): void {
    if (this.#isStopped) return refuse(pending, 'unavailable', 'The node is stopping.')
    if (this.#waiting.length >= gitLimits.writeQueueMax) {
      return refuse(pending, 'busy', 'Too many writes are waiting. Try again in a moment.')
    }
    this.#waiting.push(pending)
    this.#running ??= this.#run().finally(() => {
      this.#running = undefined
    })
  }

  /** Ends the batch under way and refuses the rest. */
  async stop(): Promise<void> {
    this.#isStopped = true
    for (const pending of this.#waiting.splice(0)) {
      refuse(pending, 'unavailable', 'The node is stopping; the change was not made.')
    }
    await this.#running
  }

  async #run(): Promise<void> {
    while (this.#waiting.length > 0) {
      // What arrived in the same turn of the loop belongs together.
      await new Promise<void>((resolve) => void setImmediate(resolve))
      await this.#write(this.#waiting.splice(0, gitLimits.writeBatchMax))
    }
  }
}

function refuse({ settle }: Pending, code: 'unavailable' | 'busy', message: string): void {
  settle(err({ code, message, operation: -1, diagnostics: [] }))
}
