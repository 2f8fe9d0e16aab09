// Hands each signed generation to the thread that signs ahead. The first one starts the thread; it
// is started again when it has ended.
import { Worker } from 'node:worker_threads'
import type { Log } from '#lib/log.ts'
import { RestartPause } from '#system/worker/restart-pause.ts'
import { AheadCell } from './ahead-cells.ts'
import type { AheadGeneration } from './ahead-walk.ts'

/** Enough for keys: bundles and signatures lie in shared memory. */
const heapMbMax = 256
/** Signing leaves much short-lived garbage. */
const youngHeapMbMax = 4
/** At a start the cores belong to the threads that answer. */
const startMs = 500

export interface AheadStatus {
  /** Signatures that were made since the start of the process. */
  readonly made: number
  /** Signatures that had no place in the table. */
  readonly leftOut: number
}

export class AheadSigner {
  readonly #log: Log
  readonly #cells = new Int32Array(
    new SharedArrayBuffer(AheadCell.Cells * Int32Array.BYTES_PER_ELEMENT),
  )
  readonly #pause = new RestartPause()
  #worker: Worker | undefined
  #last: AheadGeneration | undefined
  #starting: NodeJS.Timeout | undefined
  #isStopping = false

  constructor(log: Log) {
    this.#log = log
  }

  publish(generation: AheadGeneration): void {
    const { number, bundle, digest, dynamic = null, routing, signing = null } = generation
    this.#last = { number, bundle, digest, dynamic, routing, signing }
    if (this.#worker !== undefined) this.#worker.postMessage(this.#last)
    else if (signing !== null) this.#startIn(startMs)
  }

  /** Whether the thread no longer reads any generation before this one. */
  hasAdopted(number: number): boolean {
    if (this.#worker === undefined) return true
    return Atomics.load(this.#cells, AheadCell.Adopted) >= number
  }

  status(): AheadStatus {
    const read = (cell: number): number => Atomics.load(this.#cells, cell)
    return { made: read(AheadCell.Made), leftOut: read(AheadCell.LeftOut) }
  }

  #startIn(afterMs: number): void {
    if (this.#isStopping) return
    this.#starting ??= setTimeout(() => {
      this.#starting = undefined
      this.#worker = this.#start()
      this.#worker.postMessage(this.#last)
    }, afterMs).unref()
  }

  #start(): Worker {
    const worker = new Worker(new URL('./ahead-worker.ts', import.meta.url), {
      name: 'dns-signer',
      workerData: this.#cells.buffer,
      resourceLimits: {
        maxOldGenerationSizeMb: heapMbMax,
        maxYoungGenerationSizeMb: youngHeapMbMax,
      },
    })
    worker.unref()
    worker.on('error', (error) => {
      this.#log.error({ err: error }, 'the thread that signs ahead failed')
    })
    worker.once('exit', () => {
      this.#worker = undefined
      Atomics.store(this.#cells, AheadCell.Adopted, 0)
      if (this.#isStopping) return
      const pauseMs = this.#pause.nextMs()
      this.#log.error({ pauseMs }, 'the thread that signs ahead ended; it is started again')
      this.#startIn(pauseMs)
    })
    return worker
  }

  async stop(): Promise<void> {
    this.#isStopping = true
    clearTimeout(this.#starting)
    await this.#worker?.terminate()
  }
}
