// Defines how a signal calls off a start: that is no fault, and no further part starts.
import type { Log } from '#lib/log.ts'

/** The error of a start that was called off. */
export const startCalledOff = 'the start was called off'

/** Resolves when the start is called off; never without a signal. */
export function whenCalledOff(calledOff: AbortSignal | undefined): Promise<void> {
  return new Promise((resolve) => {
    if (calledOff?.aborted === true) resolve()
    else calledOff?.addEventListener('abort', () => resolve(), { once: true })
  })
}

/** Logs the signal that called it off. */
export function logCalledOff(log: Pick<Log, 'info'>, calledOff: AbortSignal | undefined): void {
  log.info({ ...(calledOff?.reason as object | undefined) }, startCalledOff)
}
