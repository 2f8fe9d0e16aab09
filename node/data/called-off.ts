// How a start is called off by a signal: nothing is wrong, and no further part starts.
import type { Log } from '#lib/log.ts'

/** The error of such a start. */
export const startCalledOff = 'the start was called off'

/** Resolves when the start is called off; without a signal never. */
export function whenCalledOff(calledOff: AbortSignal | undefined): Promise<void> {
  return new Promise((resolve) => {
    if (calledOff?.aborted === true) resolve()
    else calledOff?.addEventListener('abort', () => resolve(), { once: true })
  })
}

/** The reason says which signal it was. */
export function logCalledOff(log: Pick<Log, 'info'>, calledOff: AbortSignal | undefined): void {
  log.info({ ...(calledOff?.reason as object | undefined) }, startCalledOff)
}
