// The entry of the thread that works out effects of dry runs, one after the other.
import { parentPort } from 'node:worker_threads'
import { assert } from '#lib/assert.ts'
import { effectOf } from './effect-job.ts'
import type { EffectJob } from './effect-job.ts'

assert(parentPort !== null, 'effects are worked out in a thread')
const port = parentPort
port.on('message', (job: EffectJob) => port.postMessage(effectOf(job)))
