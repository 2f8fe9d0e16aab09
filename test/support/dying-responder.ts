// Preloaded into every thread of a daemon: each responder dies as it starts.
import { workerData } from 'node:worker_threads'
import { isResponderStart } from '#server/threads/responder-control.ts'

if (isResponderStart(workerData)) {
  throw new Error('no responder lives here')
}
