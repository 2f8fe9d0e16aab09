// The main thread's side of the query log: its thread, its rings, and the counts of written and
// lost records.
import { Worker } from 'node:worker_threads'
import type { Log } from '#lib/log.ts'
import { RestartPause } from '#system/worker/restart-pause.ts'
import type { EncoderSettings } from './dnstap.ts'
import { queryLogLimits } from './limits.ts'
import { droppedOf } from './logged-queries.ts'
import { CountCells } from './messages.ts'
import type { FromQueryLogWorker, QueryLogPlace, QueryLogWorkerData } from './messages.ts'
import type { ToQueryLogWorker } from './messages.ts'
import { LogCell, ringBytes } from './ring.ts'

export interface QueryLogParts extends EncoderSettings {
  readonly to: QueryLogPlace
  /** On average, one query in this many is logged. */
  readonly sampleEvery: number
  /** Number of answering threads. */
  readonly threads: number
  readonly log: Log
}

/** Counts since the start; `isUp`: records are accepted now. */
interface QueryLogCounts {
  readonly written: number
  /** Lost because the log did not keep up. */
  readonly droppedFull: number
  /** Lost because the file or the receiver did not accept them. */
  readonly droppedAway: number
  readonly bytes: number
  readonly isUp: boolean
  /** Records are being lost: the last try failed. False before the first try. */
  readonly isFailing: boolean
}

export class QueryLog {
  readonly #parts: QueryLogParts
  /** One for each answering thread. */
  readonly rings: readonly SharedArrayBuffer[]
  readonly #counts = new SharedArrayBuffer(CountCells.bytes)
  readonly #pause = new RestartPause()
  #worker: Worker | undefined
  #restart: NodeJS.Timeout | undefined
  #isStopping = false

  constructor(parts: QueryLogParts) {
    this.#parts = parts
    this.rings = Array.from({ length: parts.threads }, () => new SharedArrayBuffer(ringBytes))
    for (const ring of this.rings) new Int32Array(ring)[LogCell.SampleEvery] = parts.sampleEvery
  }

  start(): void {
    const { to, log, node, version, truncateClients } = this.#parts
    const settings = { node, version, truncateClients }
    const workerData: QueryLogWorkerData = {
      ...settings,
      to,
      rings: this.rings,
      counts: this.#counts,
    }
    const url = new URL('./worker.ts', import.meta.url)
    const worker = new Worker(url, { name: 'gslbd-query-log', workerData, env: {} })
    this.#worker = worker
    worker.on('error', (error) => log.error({ err: error }, 'the query log failed'))
    worker.on('message', ({ level, fields, message }: FromQueryLogWorker) =>
      log[level]?.(fields, message),
    )
    worker.once('exit', () => this.#ended())
  }

  counts(): QueryLogCounts {
    const { dropped, ...counts } = new CountCells(this.#counts).read()
    return { ...counts, droppedFull: droppedOf(this.rings), droppedAway: dropped }
  }

  /** Call it when no thread answers any more; logged records are written first. */
  async stop(): Promise<void> {
    this.#isStopping = true
    clearTimeout(this.#restart)
    const worker = this.#worker
    if (worker === undefined) return
    const exited = new Promise<void>((resolve) => worker.once('exit', () => resolve()))
    const deadline = setTimeout(() => void worker.terminate(), queryLogLimits.stopMs)
    worker.postMessage({ kind: 'stop' } satisfies ToQueryLogWorker)
    await exited
    clearTimeout(deadline)
  }

  #ended(): void {
    this.#worker = undefined
    new CountCells(this.#counts).forgetUp()
    if (this.#isStopping) return
    const pauseMs = this.#pause.nextMs()
    this.#parts.log.error({ pauseMs }, 'the query log ended; it is started again')
    this.#restart = setTimeout(() => this.start(), pauseMs)
    this.#restart.unref()
  }
}
