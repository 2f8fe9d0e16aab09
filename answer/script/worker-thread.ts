// The main thread's handle on one script helper: starts it, assigns its mailbox, sends generations,
// ends it.
import { MessageChannel, receiveMessageOnPort, Worker } from 'node:worker_threads'
import type { Generation } from '#answer/serving-view.ts'
import { readyOrEnded } from '#system/worker/start-limiter.ts'
import type { ScriptReport } from './report-limit.ts'
import type { ScriptPost } from './worker.ts'

/**
 * In MB. The engine's parser recurses deeply in this thread's stack before its own limit applies.
 */
const resourceLimits = { stackSizeMb: 32, maxOldGenerationSizeMb: 128 } as const

export class HelperThread {
  readonly #worker: Worker
  readonly #channel = new MessageChannel()
  /** Resolves when it can run scripts, or has ended. */
  readonly ready: Promise<void>
  #hasEnded = false

  constructor() {
    this.#worker = new Worker(new URL('./worker.ts', import.meta.url), {
      name: 'dns-script',
      resourceLimits,
    })
    // An error ends the thread, and `exit` reports it.
    this.#worker.on('error', () => undefined)
    this.#worker.once('exit', () => (this.#hasEnded = true))
    this.ready = readyOrEnded(this.#worker)
    this.#worker.unref()
    this.#channel.port1.unref()
  }

  get hasEnded(): boolean {
    return this.#hasEnded
  }

  onEnd(listener: () => void): void {
    this.#worker.once('exit', listener)
  }

  onReport(listener: (report: ScriptReport) => void): void {
    this.#channel.port1.on('message', listener)
    // A referenced port would keep the process alive.
    this.#channel.port1.unref()
  }

  /** Receives the next report, if any, without a listener. */
  takeReport(): ScriptReport | undefined {
    const received = receiveMessageOnPort(this.#channel.port1)
    return (received as { message: ScriptReport } | undefined)?.message
  }

  /** @param simulatedMs see ScriptPost */
  serve(mailbox: SharedArrayBuffer, simulatedMs: number | null = null): void {
    const port = this.#channel.port2
    const post: ScriptPost = { mailbox, port, simulatedMs }
    this.#worker.postMessage(post, [port])
  }

  tell(generation: Generation): void {
    this.#channel.port1.postMessage(generation)
  }

  async end(): Promise<void> {
    this.#channel.port1.close()
    await this.#worker.terminate()
  }
}
