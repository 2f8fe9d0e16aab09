// Restarts the health worker when it ends, with exponential back-off.
import { Worker } from 'node:worker_threads'
import { assert } from '#lib/assert.ts'
import { backoffMs } from '#lib/backoff.ts'
import type { Clock } from '#lib/clock.ts'
import type { Log } from '#lib/log.ts'
import { healthLimits } from '#health/limits.ts'
import type { ResultsMessage, ToWorker } from './messages.ts'
import { defaultProbeSettings } from '#health/probes/probe-settings.ts'
import type { ProbeSettings } from '#health/probes/probe-settings.ts'
import type { LogMessage } from '#system/worker/worker-log.ts'

interface WorkerKeeperParts {
  readonly clock: Clock
  readonly log: Log
  readonly spawn: () => Worker
  /** Called when a worker has started, which knows nothing yet. */
  readonly onStart: () => void
  readonly onResults: (message: ResultsMessage) => void
  /** Called when a worker has ended by itself. */
  readonly onCrash: () => void
}

export function spawnHealthWorker(settings: ProbeSettings = defaultProbeSettings): Worker {
  return new Worker(new URL('./worker.ts', import.meta.url), {
    name: 'gslbd-health',
    workerData: settings,
    resourceLimits: {
      maxOldGenerationSizeMb: healthLimits.workerHeapMbMax,
      maxYoungGenerationSizeMb: healthLimits.workerYoungHeapMbMax,
    },
  })
}

export class WorkerKeeper {
  readonly #parts: WorkerKeeperParts
  #worker: Worker | undefined
  #restart: NodeJS.Timeout | undefined
  #crashes = 0
  #isStopping = false

  constructor(parts: WorkerKeeperParts) {
    this.#parts = parts
  }

  start(): void {
    const { clock, log, spawn, onStart, onResults, onCrash } = this.#parts
    assert(this.#worker === undefined, 'one health worker runs at a time')
    const worker = spawn()
    const startedMs = clock.monotonicMs()
    this.#worker = worker
    worker.on('message', (message: ResultsMessage | LogMessage) => {
      if (message.kind === 'log') log[message.level]?.(message.fields, message.message)
      else if (!this.#isStopping) onResults(message)
    })
    worker.on('error', (error) => {
      log.error({ err: error }, 'the health worker failed')
    })
    worker.once('exit', () => {
      this.#worker = undefined
      if (this.#isStopping) return
      if (clock.monotonicMs() - startedMs >= healthLimits.workerStableMs) {
        this.#crashes = 0
      }
      const restartMs = backoffMs(healthLimits.workerRestarts, ++this.#crashes)
      log.error({ restartMs }, 'the health worker ended; the last verdicts stand until it is back')
      this.#restart = setTimeout(() => {
        this.start()
      }, restartMs)
      onCrash()
    })
    onStart()
  }

  /** Lost while there is no worker: the next one gets everything in `onStart`. */
  post(message: ToWorker): void {
    this.#worker?.postMessage(message)
  }

  async stop(): Promise<void> {
    this.#isStopping = true
    clearTimeout(this.#restart)
    const worker = this.#worker
    if (worker === undefined) return
    const exited = new Promise<void>((resolve) =>
      worker.once('exit', () => {
        resolve()
      }),
    )
    const deadline = setTimeout(() => void worker.terminate(), healthLimits.workerStopMs)
    this.post({ kind: 'stop' })
    await exited
    clearTimeout(deadline)
  }
}
