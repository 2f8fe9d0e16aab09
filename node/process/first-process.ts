// Lets SIGTERM and SIGINT end the first process of a container: the kernel drops signals that this
// process does not handle, so that a stop would wait until the engine kills it.
import { constants } from 'node:os'
import { endNow } from './end-now.ts'

/** What a shell says of a process that a signal ended. */
const ofSignals = 128

/**
 * Has SIGTERM and SIGINT end the process, as they end every other one, while nothing else of it
 * listens to them. Does nothing in a process that is not the first.
 */
export function endAtSignals(pid = process.pid): void {
  if (pid !== 1) return
  for (const signal of ['SIGTERM', 'SIGINT'] as const) {
    process.on(signal, () => {
      if (process.listenerCount(signal) === 1) endNow(ofSignals + constants.signals[signal])
    })
  }
}
