// The timer that is passed as an argument: the real one, and a hand-moved one for tests.

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
