// Defines waiting: the timer that is passed as an argument, work with a time limit, and waiting for
// news.

/** Calls `fn` once, no earlier than after `delayMs`; returns the function that cancels it. */
export type After = (delayMs: number, fn: () => void) => () => void

export const systemAfter: After = (delayMs, fn) => {
  const timer = setTimeout(fn, delayMs)
  return () => {
    clearTimeout(timer)
  }
}

/** Resolves with `work`, or after the time limit; `work` goes on. */
export async function noLongerThan(patienceMs: number, work: Promise<void>): Promise<void> {
  let callOff = (): void => undefined
  const patience = new Promise<void>((resolve) => {
    callOff = systemAfter(patienceMs, resolve)
  })
  await Promise.race([work, patience]).finally(() => {
    callOff()
  })
}

/** Holds callers that wait for news, each for a limited time. */
export class WaitList {
  readonly #waiting = new Set<() => void>()

  get size(): number {
    return this.#waiting.size
  }

  /** Resolves at the next `wakeAll`, or after the time limit. */
  wait(withinMs: number): Promise<void> {
    return new Promise((resolve) => {
      const end = (): void => {
        callOff()
        this.#waiting.delete(end)
        resolve()
      }
      const callOff = systemAfter(withinMs, end)
      this.#waiting.add(end)
    })
  }

  wakeAll(): void {
    for (const end of this.#waiting) end()
  }
}
