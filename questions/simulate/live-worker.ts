// Starts the thread that runs simulated queries of the API, one after the other.
import { parentPort } from 'node:worker_threads'
import { assert } from '#lib/assert.ts'
import { runLiveJob } from './live-job.ts'
import type { LiveJob } from './live-job.ts'

assert(parentPort !== null, 'simulations run in a thread')
const port = parentPort
port.on('message', (job: LiveJob) => {
  void runLiveJob(job).then((done) => port.postMessage(done))
})
