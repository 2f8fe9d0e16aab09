// Dry runs say their effect: what would be is planned against what answers, in a thread.
import { Worker } from 'node:worker_threads'
import type { ConfigWriter } from '#api/config/writer.ts'
import type { Clock } from '#lib/clock.ts'
import { ok } from '#lib/result.ts'
import type { LiveNode } from '#runtime/node/live-node.ts'
import type { EffectJob } from './effect-job.ts'

export const effectLimits = {
  /** For one; then its thread is ended, and the answer goes without. */
  jobMs: 10_000,
  /** Dry runs that wait for the one before; further ones go without. */
  waitingMax: 4,
  /** A thread that nobody asks is ended. */
  idleMs: 60_000,
} as const

export interface EffectParts {
  readonly writer: ConfigWriter
  /** What answers now; undefined: nothing. */
  readonly node: () => LiveNode | undefined
  readonly clock: Clock
  /** Default `effectLimits.jobMs`. */
  readonly jobMs?: number
}

/** A writer whose dry runs say what they would move. */
export class EffectWriter implements ConfigWriter {
  readonly #parts: EffectParts
  #worker: Worker | undefined
  #idle: NodeJS.Timeout | undefined
  #waiting = 0
  #settle: (effect: string) => void = () => undefined
  #working: Promise<unknown> = Promise.resolve()

  constructor(parts: EffectParts) {
    this.#parts = parts
  }

  write: ConfigWriter['write'] = async (request) => {
    const { writer } = this.#parts
    if (request.isDryRun !== true) return await writer.write(request)
    const done = await writer.write({ ...request, wantsBundle: true })
    if (!done.ok) return done
    const { bundle, ...told } = done.value
    if (bundle === undefined) return ok(told)
    const effect = await this.#effectOf(bundle)
    return ok(effect === '' ? told : { ...told, effect })
  }

  async close(): Promise<void> {
    clearTimeout(this.#idle)
    await this.#end()
  }

  async #effectOf(next: Uint8Array): Promise<string> {
    if (this.#waiting >= effectLimits.waitingMax) return ''
    this.#waiting++
    const run = () => this.#run(next)
    const done = this.#working.then(run, run)
    this.#working = done
    try {
      return await done
    } finally {
      this.#waiting--
    }
  }

  async #run(next: Uint8Array): Promise<string> {
    const live = this.#parts.node()
    if (live === undefined) return ''
    clearTimeout(this.#idle)
    // Of a generation that may be another one's memory after the next swap.
    const bundle = new Uint8Array(new SharedArrayBuffer(live.bundle.bytes.length))
    bundle.set(live.bundle.bytes)
    const { digest } = live.bundle
    const nowMs = this.#parts.clock.nowMs()
    const job: EffectJob = { bundle, digest, tables: live.tables, next, nowMs }
    const { promise, resolve } = Promise.withResolvers<string | null>()
    const timer = setTimeout(() => resolve(null), this.#parts.jobMs ?? effectLimits.jobMs)
    this.#settle = resolve
    const worker = (this.#worker ??= this.#start())
    worker.postMessage(job)
    const effect = await promise
    clearTimeout(timer)
    if (effect === null) {
      await this.#end()
      return ''
    }
    this.#idle = setTimeout(() => void this.#end(), effectLimits.idleMs)
    this.#idle.unref()
    return effect
  }

  async #end(): Promise<void> {
    const worker = this.#worker
    this.#worker = undefined
    if (worker !== undefined) await worker.terminate()
  }

  #start(): Worker {
    const worker = new Worker(new URL('./effect-worker.ts', import.meta.url), { env: {} })
    const settle = (effect: string): void => {
      // Whatever one says that is being ended was asked by nobody.
      if (this.#worker === worker) this.#settle(effect)
    }
    const fail = (): void => {
      if (this.#worker === worker) this.#worker = undefined
      this.#settle('')
    }
    worker
      .on('message', settle)
      .on('error', fail)
      .on('exit', () => this.#worker === worker && fail())
    worker.unref()
    return worker
  }
}
