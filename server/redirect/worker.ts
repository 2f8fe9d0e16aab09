// Runs the thread of the redirect listener: receives tables and answers requests from them.
import { parentPort, workerData } from 'node:worker_threads'
import { assert } from '#lib/assert.ts'
import { systemClock } from '#lib/clock.ts'
import { logThrough } from '#system/worker/worker-log.ts'
import { RedirectCounters } from './counters.ts'
import { RedirectListener } from './listener.ts'
import type { FromRedirectWorker, RedirectWorkerData, ToRedirectWorker } from './messages.ts'

assert(parentPort !== null, 'the redirect listener runs in a thread')
const port = parentPort
const post = (message: FromRedirectWorker): void => port.postMessage(message)

const { settings, counters, handed, certificates } = workerData as RedirectWorkerData
const listener = new RedirectListener({
  settings,
  counters: new RedirectCounters(counters),
  clock: systemClock,
  log: logThrough(post),
})
listener.certify(certificates)

port.on('message', (message: ToRedirectWorker) => {
  if (message.kind === 'reopen-log') listener.reopenLog()
  else if (message.kind === 'challenges') listener.challenge(message.challenges)
  else if (message.kind === 'certificates') listener.certify(message.pairs)
  else if (message.kind === 'stop') void stop()
  else {
    listener.adopt(message.table)
    post({ kind: 'adopted', number: message.table.number })
  }
})

const started = await listener.start(handed)
if (started.ok) {
  post({ kind: 'listening', ...started.value, descriptors: listener.descriptors() })
} else {
  post({ kind: 'failed', reason: started.error })
  await stop()
}

async function stop(): Promise<void> {
  await listener.stop()
  port.close()
}
