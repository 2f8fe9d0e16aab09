// Starts the thread that answers questions about the past, one after the other.
import { parentPort } from 'node:worker_threads'
import { assert } from '#lib/assert.ts'
import { runHealthJob } from './health-job.ts'
import type { HealthJob } from './health-job.ts'
import { runPastJob } from './past-job.ts'
import type { PastJob } from './past-job.ts'

assert(parentPort !== null, 'explanations of the past run in a thread')
const port = parentPort
port.on('message', (job: PastJob | HealthJob) => {
  const done: Promise<object> = 'members' in job ? runHealthJob(job) : runPastJob(job)
  void done.then((answer) => port.postMessage(answer))
})
