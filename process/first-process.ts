// Lets SIGTERM and SIGINT end the first process of a container: the kernel drops signals that this
// process does not handle, so that a stop would wait until the engine kills it.
import { constants } from 'node:os'
import { endNow } from './end-now.ts'

/** Exit code of a shell for a process that a signal ended, less the signal. */
const ofSignals = 128

/**
 * Makes SIGTERM and SIGINT end the process, as they end any other, while nothing else of it handles
 * them. Does nothing in a process that is not the first.
 */
export function endAtSignals(pid = process.pid): void {
  if (pid !== 1) return
  for (const signal of ['SIGTERM', 'SIGINT'] as const) {
    process.on(signal, () => {
      if (process.listenerCount(signal) === 1) endNow(ofSignals + constants.signals[signal])
    })
  }
}
