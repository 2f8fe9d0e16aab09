// Holds the calls to another thread that are not answered yet.
import { assert } from '#lib/assert.ts'

export class PendingCalls<Answer> {
  readonly #most: number
  readonly #resolvers = new Map<number, (answer: Answer) => void>()
  #lastId = 0

  /** @param most calls that may wait at once */
  constructor(most: number) {
    this.#most = most
  }

  get size(): number {
    return this.#resolvers.size
  }

  get isFull(): boolean {
    return this.#resolvers.size >= this.#most
  }

  /** @param send sends the call under its number */
  add(send: (id: number) => void): Promise<Answer> {
    assert(!this.isFull, 'a call is made while there is room for it')
    const id = ++this.#lastId
    return new Promise((resolve) => {
      this.#resolvers.set(id, resolve)
      send(id)
    })
  }

  settle(id: number, answer: Answer): void {
    assert(id > 0 && id <= this.#lastId, 'a thread answers a call that was made to it')
    this.#resolvers.get(id)?.(answer)
    this.#resolvers.delete(id)
  }

  /** Answers all calls: the thread has ended. */
  abandon(answer: Answer): void {
    for (const resolve of this.#resolvers.values()) resolve(answer)
    this.#resolvers.clear()
  }
}
