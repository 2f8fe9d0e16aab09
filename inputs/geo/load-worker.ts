// Starts a thread that loads one geo database, so that the main thread does not stall for seconds.
import { parentPort, workerData } from 'node:worker_threads'
import { assert } from '#lib/assert.ts'
import { yieldToAnswers } from '#lib/thread/background-thread.ts'
import { loadGeo } from './load.ts'
import type { GeoLoadRequest } from './load.ts'

assert(parentPort !== null, 'the geo loader runs in a thread')
yieldToAnswers()
parentPort.postMessage(loadGeo(workerData as GeoLoadRequest))
