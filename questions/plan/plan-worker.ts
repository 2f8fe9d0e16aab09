// Starts the thread that plans for a running node, one job after the other.
import { parentPort } from 'node:worker_threads'
import { assert } from '#lib/assert.ts'
import { runPlanJob } from './plan-jobs.ts'
import type { PlanJob } from './plan-jobs.ts'

assert(parentPort !== null, 'plans of a node are made in a thread')
const port = parentPort
port.on('message', (job: PlanJob) => port.postMessage(runPlanJob(job)))
