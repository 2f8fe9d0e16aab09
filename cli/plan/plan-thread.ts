// Plans of a running node: one after the other, in a thread that is ended when one takes too long.
import { Worker } from 'node:worker_threads'
import type { PlanJob } from './plan-jobs.ts'

export const planThreadLimits = {
  /** For one; then its thread is ended. */
  jobMs: 10_000,
  /** A thread that nobody asks is ended. */
  idleMs: 60_000,
  /** Of the heap of a thread; the bundle and the tables are beside it. */
  heapMegabytes: 512,
} as const

export interface PlanThreadOptions {
  /** Jobs at once, the one under way among them. */
  readonly waitingMax: number
  /** Default `planThreadLimits.jobMs`. */
  readonly jobMs?: number
}

/** Why there is no answer. `failed`: the job said nothing, or its thread ran out of memory. */
export type NotPlanned = 'busy' | 'too-slow' | 'failed'

/** @template Answer what the job says */
export class PlanThread<Answer extends object> {
  readonly #options: PlanThreadOptions
  #worker: Worker | undefined
  #idle: NodeJS.Timeout | undefined
  #waiting = 0
  #settle: (answer: Answer | NotPlanned) => void = () => undefined
  #working: Promise<unknown> = Promise.resolve()

  constructor(options: PlanThreadOptions) {
    this.#options = options
  }

  /** @param jobOf asked when its turn has come; undefined: there is nothing to plan any more */
  async run(jobOf: () => PlanJob | undefined): Promise<Answer | NotPlanned> {
    if (this.#waiting >= this.#options.waitingMax) return 'busy'
    this.#waiting++
    const run = (): Promise<Answer | NotPlanned> => this.#run(jobOf())
    const done = this.#working.then(run, run)
    this.#working = done
    try {
      return await done
    } finally {
      this.#waiting--
    }
  }

  async close(): Promise<void> {
    clearTimeout(this.#idle)
    await this.#end()
  }

  async #run(job: PlanJob | undefined): Promise<Answer | NotPlanned> {
    if (job === undefined) return 'failed'
    clearTimeout(this.#idle)
    const { promise, resolve } = Promise.withResolvers<Answer | NotPlanned>()
    const { jobMs = planThreadLimits.jobMs } = this.#options
    const timer = setTimeout(() => resolve('too-slow'), jobMs)
    this.#settle = resolve
    const worker = (this.#worker ??= this.#start())
    worker.postMessage(job)
    const answer = await promise
    clearTimeout(timer)
    if (answer === 'too-slow') {
      await this.#end()
      return answer
    }
    this.#idle = setTimeout(() => void this.#end(), planThreadLimits.idleMs)
    this.#idle.unref()
    return answer
  }

  async #end(): Promise<void> {
    const worker = this.#worker
    this.#worker = undefined
    if (worker !== undefined) await worker.terminate()
  }

  #start(): Worker {
    const worker = new Worker(new URL('./plan-worker.ts', import.meta.url), {
      env: {},
      resourceLimits: { maxOldGenerationSizeMb: planThreadLimits.heapMegabytes },
    })
    const settle = (answer: Answer | null): void => {
      // Whatever one says that is being ended was asked by nobody.
      if (this.#worker === worker) this.#settle(answer ?? 'failed')
    }
    const fail = (): void => {
      if (this.#worker !== worker) return
      this.#worker = undefined
      this.#settle('failed')
    }
    worker.on('message', settle).on('error', fail).on('exit', fail)
    worker.unref()
    return worker
  }
}
