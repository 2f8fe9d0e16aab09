// Defines waiting: the timer that is passed as an argument, work with a time limit, callers that
// wait for news, and news that waits until it may be said again.

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

/** Says what is new at once, and what is new again and again at most once in a period. */
export class Rarely {
  readonly #after: After
  readonly #periodMs: number
  readonly #say: (times: number) => void
  #unsaid = 0
  #callOff: (() => void) | undefined

  /** @param say gets how often it was new since the last time */
  constructor(after: After, periodMs: number, say: (times: number) => void) {
    this.#after = after
    this.#periodMs = periodMs
    this.#say = say
  }

  note(): void {
    this.#unsaid++
    if (this.#callOff === undefined) this.#sayNow()
  }

  stop(): void {
    this.#callOff?.()
    this.#callOff = undefined
  }

  #sayNow(): void {
    const times = this.#unsaid
    this.#unsaid = 0
    this.#callOff = this.#after(this.#periodMs, () => {
      this.#callOff = undefined
      if (this.#unsaid > 0) this.#sayNow()
    })
    this.#say(times)
  }
}
