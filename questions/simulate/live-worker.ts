// Starts the thread that runs simulated queries of the API, one after the other.
import { parentPort } from 'node:worker_threads'
import { assert } from '#lib/assert.ts'
import { SimulationMemory } from '#judge/simulate/simulation.ts'
import { runLiveJob } from './live-job.ts'
import type { LiveJob } from './live-job.ts'

assert(parentPort !== null, 'simulations run in a thread')
const port = parentPort
// The names that tell keys are made once for a configuration, and not for each question.
const memory = new SimulationMemory()
port.on('message', (job: LiveJob) => {
  void runLiveJob(job, memory).then((done) => port.postMessage(done))
})
