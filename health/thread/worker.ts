// Runs the health thread: passes messages to the prober, and batches of results back.
import { randomInt } from 'node:crypto'
import { parentPort, workerData } from 'node:worker_threads'
import { assert } from '#lib/assert.ts'
import { systemClock } from '#lib/clock.ts'
import { Random } from '#lib/random.ts'
import type { ToWorker } from './messages.ts'
import { Prober } from './prober.ts'
import { createProbes } from '#health/probes/probes.ts'
import type { ProbeSettings } from '#health/probes/probe-settings.ts'
import { logThrough } from '#system/worker/worker-log.ts'

assert(parentPort !== null, 'the health worker runs in a thread')
const port = parentPort
const log = logThrough((message) => {
  port.postMessage(message)
})

const prober = new Prober({
  probes: createProbes({ ...(workerData as ProbeSettings), log }),
  clock: systemClock,
  random: new Random(randomInt(0x1_0000_0000)),
  after: (delayMs, fn) => {
    const timer = setTimeout(fn, delayMs)
    return () => {
      clearTimeout(timer)
    }
  },
  publish: (message) => {
    port.postMessage(message)
  },
})

port.on('message', (message: ToWorker) => {
  if (message.kind === 'targets') {
    prober.setTargets(message)
  } else {
    prober.stop()
    port.close()
  }
})
