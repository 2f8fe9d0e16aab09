// A start that is called off by a signal: nothing is wrong, and no further part starts.

/** The error of such a start. */
export const startCalledOff = 'the start was called off'

/** Never, without a signal. */
export function whenCalledOff(calledOff: AbortSignal | undefined): Promise<void> {
  return new Promise((resolve) => {
    if (calledOff?.aborted === true) resolve()
    else calledOff?.addEventListener('abort', () => resolve(), { once: true })
  })
}
