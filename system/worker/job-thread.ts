// Runs jobs of one kind one after the other, in a thread that is ended when a job takes too long.
import { Worker } from 'node:worker_threads'

const jobThreadLimits = {
  /** Time limit of a job; its thread is ended after it. */
  jobMs: 10_000,
  /** Idle time after which the thread is ended. */
  idleMs: 60_000,
  /** Heap of the thread, without shared memory. */
  heapMegabytes: 512,
} as const

export interface JobThreadOptions {
  /** File of the thread. It posts one answer for each job; null: the job cannot be done. */
  readonly file: URL
  /** Limit of unfinished jobs, the running one included. */
  readonly waitingMax: number
  /** Default `jobThreadLimits.jobMs`. */
  readonly jobMs?: number | undefined
}

type JobOf<Job> = () => Job | undefined | Promise<Job | undefined>

/** Reasons for a missing answer. `failed`: the job gave none, or its thread ran out of memory. */
export type NotDone = 'busy' | 'too-slow' | 'failed'

/** @template Answer result of a job */
export class JobThread<Job extends object, Answer extends object> {
  readonly #options: JobThreadOptions
  #worker: Worker | undefined
  #idle: NodeJS.Timeout | undefined
  #waiting = 0
  #settle: (answer: Answer | NotDone) => void = () => undefined
  #working: Promise<unknown> = Promise.resolve()

  constructor(options: JobThreadOptions) {
    this.#options = options
  }

  /**
   * Runs a job when its turn has come.
   * @param jobOf called at the job's turn, within the time limit of the job; undefined: there is no
   * more to do
   */
  async run(jobOf: JobOf<Job>): Promise<Answer | NotDone> {
    if (this.#waiting >= this.#options.waitingMax) return 'busy'
    this.#waiting++
    const run = (): Promise<Answer | NotDone> => this.#run(jobOf)
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

  async #run(jobOf: JobOf<Job>): Promise<Answer | NotDone> {
    clearTimeout(this.#idle)
    const late = Promise.withResolvers<'too-slow'>()
    const { jobMs = jobThreadLimits.jobMs } = this.#options
    const timer = setTimeout(() => late.resolve('too-slow'), jobMs)
    try {
      const job = await Promise.race([jobOf(), late.promise])
      if (job === undefined) return 'failed'
      if (job === 'too-slow') return 'too-slow'
      return await this.#ask(job, late.promise)
    } finally {
      clearTimeout(timer)
      this.#idle = setTimeout(() => void this.#end(), jobThreadLimits.idleMs)
      this.#idle.unref()
    }
  }

  async #ask(job: Job, late: Promise<'too-slow'>): Promise<Answer | NotDone> {
    const { promise, resolve } = Promise.withResolvers<Answer | NotDone>()
    this.#settle = resolve
    const worker = (this.#worker ??= this.#start())
    worker.postMessage(job)
    const answer = await Promise.race([promise, late])
    if (answer === 'too-slow') await this.#end()
    return answer
  }

  async #end(): Promise<void> {
    const worker = this.#worker
    this.#worker = undefined
    if (worker !== undefined) await worker.terminate()
  }

  #start(): Worker {
    const worker = new Worker(this.#options.file, {
      name: 'gslbd-job',
      env: {},
      resourceLimits: { maxOldGenerationSizeMb: jobThreadLimits.heapMegabytes },
    })
    const settle = (answer: Answer | null): void => {
      // Messages of a thread that is being ended are ignored.
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
