// Waiting: the timer that is passed as an argument, patience with work, and waiting for news.

/** Calls `fn` once after `delayMs`, at the earliest; returns what calls it off. */
export type After = (delayMs: number, fn: () => void) => () => void

export const systemAfter: After = (delayMs, fn) => {
  const timer = setTimeout(fn, delayMs)
  return () => {
    clearTimeout(timer)
  }
}

/** Resolves with `work`, or when so much time has gone by before; `work` goes on. */
export async function noLongerThan(patienceMs: number, work: Promise<void>): Promise<void> {
  let callOff = (): void => undefined
  const patience = new Promise<void>((resolve) => {
    callOff = systemAfter(patienceMs, resolve)
  })
  await Promise.race([work, patience]).finally(() => {
    callOff()
  })
}

/** Callers that wait for the next news, each for a limited time. */
export class WaitList {
  readonly #waiting = new Set<() => void>()

  get size(): number {
    return this.#waiting.size
  }

  /** Resolves at the next `wakeAll`, or when so much time has gone by before. */
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
