// Starts the thread that helps to read files of configuration.
import { parentPort } from 'node:worker_threads'
import { assert } from '#lib/assert.ts'
import { readChunks } from './read-job.ts'
import type { ReadJob } from './read-job.ts'

assert(parentPort !== null, 'files are read ahead in a thread')
const port = parentPort
port.once('message', (job: ReadJob) => port.postMessage([...readChunks(job)]))
