// Runs each job on its period: never twice at once, and on after a failure.
import type { Log } from '#lib/log.ts'
import type { Random } from '#lib/random.ts'
import type { Job, JobContext } from './table.ts'

/** Share of a period by which runs vary, so that nodes drift apart. */
export const jitterRatio = 0.1
/** Time for a run at shutdown: a job that hangs must not keep the node from ending. */
export const stopGraceMs = 5_000

/** `setTimeout` and `clearTimeout`; moved by hand in tests. */
export interface Timers {
  /** @returns what `cancel` takes */
  readonly after: (delayMs: number, run: () => void) => unknown
  readonly cancel: (timer: unknown) => void
}

/** Timers of Node that keep no process alive. */
export const systemTimers: Timers = {
  after: (delayMs, run) => setTimeout(run, delayMs).unref(),
  cancel: (timer) => clearTimeout(timer as NodeJS.Timeout),
}

interface JobRunnerParts {
  readonly jobs: readonly Job[]
  readonly context: JobContext
  readonly timers: Timers
  readonly random: Random
  readonly log: Log
}

export interface JobRunner {
  readonly start: () => void
  /** Starts no further run; waits up to `stopGraceMs` for runs under way. */
  readonly stop: () => Promise<void>
}

/** Builds a runner that is not running yet. */
export function createJobRunner(parts: JobRunnerParts): JobRunner {
  const loops = parts.jobs.map((job) => new JobLoop(job, parts))
  return {
    start: () => loops.forEach((loop) => loop.start()),
    stop: async () => {
      await Promise.all(loops.map((loop) => loop.stop()))
    },
  }
}

class JobLoop {
  readonly #job: Job
  readonly #parts: JobRunnerParts
  #timer: unknown
  #running: Promise<void> = Promise.resolve()
  #isStarted = false
  /** Whether the last run was late, and what it failed with; each is logged as it begins. */
  #isLate = false
  #failed = ''

  constructor(job: Job, parts: JobRunnerParts) {
    this.#job = job
    this.#parts = parts
  }

  start(): void {
    if (this.#isStarted) return
    this.#isStarted = true
    this.#schedule()
  }

  async stop(): Promise<void> {
    const { log, timers } = this.#parts
    this.#isStarted = false
    timers.cancel(this.#timer)
    const grace = Promise.withResolvers<undefined>()
    const cut = timers.after(stopGraceMs, () => {
      log.warn({ job: this.#job.name, stopGraceMs }, 'a job did not end at shutdown; left behind')
      grace.resolve(undefined)
    })
    await Promise.race([this.#running, grace.promise])
    timers.cancel(cut)
  }

  #schedule(): void {
    const { random, timers } = this.#parts
    const spread = (random.next() / 0xffff_ffff) * 2 - 1
    const delayMs = Math.round(this.#job.periodMs * (1 + spread * jitterRatio))
    this.#timer = timers.after(delayMs, () => {
      this.#running = this.#runOnce()
    })
  }

  /** The next run is scheduled after this one has ended, so two never overlap. */
  async #runOnce(): Promise<void> {
    const { name, periodMs, run } = this.#job
    const { context, log, timers } = this.#parts
    const wasLate = this.#isLate
    this.#isLate = false
    // Otherwise a job that hangs would be silent: its next run never comes.
    const watch = timers.after(periodMs, () => {
      this.#isLate = true
      if (!wasLate) log.warn({ job: name, periodMs }, 'a job runs longer than its period')
    })
    try {
      await run(context)
      this.#failed = ''
    } catch (error) {
      const failed = String(error)
      const isNews = failed !== this.#failed
      this.#failed = failed
      if (isNews)
        log.error({ job: name, err: error }, 'a job failed; it runs again after its period')
    } finally {
      timers.cancel(watch)
      if (this.#isStarted) this.#schedule()
    }
  }
}
