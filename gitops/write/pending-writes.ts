// Holds the writes that were sent to the worker and are not answered yet.
import { assert } from '#lib/assert.ts'
import { err } from '#lib/result.ts'
import { gitLimits } from '../limits.ts'
import type { CommitResult, WriteFailureCode } from '#config/operation.ts'

export class PendingWrites {
  readonly #resolvers = new Map<number, (result: CommitResult) => void>()
  #lastId = 0

  get size(): number {
    return this.#resolvers.size
  }

  /** @param send sends the write under its number */
  add(send: (id: number) => void): Promise<CommitResult> {
    if (this.#resolvers.size >= gitLimits.writeQueueMax) {
      const message = 'Too many writes are waiting. Try again in a moment.'
      return Promise.resolve(writeFailed('busy', message))
    }
    const id = ++this.#lastId
    return new Promise((resolve) => {
      this.#resolvers.set(id, resolve)
      send(id)
    })
  }

  settle(id: number, result: CommitResult): void {
    assert(id > 0 && id <= this.#lastId, 'the worker answers a write that it was given')
    this.#resolvers.get(id)?.(result)
    this.#resolvers.delete(id)
  }

  /** Fails all writes: the worker died, and nobody knows what it had done. */
  abandon(): void {
    const message =
      'The configuration worker stopped before it answered. It is not known whether the change ' +
      'is in Git: look at it.'
    for (const resolve of this.#resolvers.values()) resolve(writeFailed('uncertain', message))
    this.#resolvers.clear()
  }
}

export function writeFailed(code: WriteFailureCode, message: string): CommitResult {
  return err({ code, message, operation: -1, diagnostics: [] })
}
