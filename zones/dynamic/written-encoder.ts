// Encodes records written at run time for a main bundle: few of them here and at once, many in a
// thread of its own, so that the main loop does not stand still.
import { setImmediate as nextTurn } from 'node:timers/promises'
import { Worker } from 'node:worker_threads'
import type { Bundle } from '#bundle/format/bundle.ts'
import { parseName } from '#dns/name.ts'
import type { HandedBundle } from '#answer/serving-view.ts'
import { encodeWritten } from './written-bundle.ts'
import type { TextsLeft, WrittenBundle } from './written-bundle.ts'
import type { FromEncoder, ToEncoder } from './encoder-messages.ts'
import type { WrittenName, WrittenRecords } from './written-records.ts'

export interface EncodedTexts extends TextsLeft {
  /** null: no name is in a zone of the main bundle. */
  readonly handed: HandedBundle | null
  /** Revision of the records that are in it. */
  readonly revision: number
  /** Digest of the main bundle that it goes with. */
  readonly mainDigest: string
}

/** Up to here a thread would cost more than it saves: a few milliseconds. */
export const encodedHere = Object.freeze({ names: 100, bytes: 64 * 1024 })
/** Names that are handed to the thread in one turn of the main loop. */
const namesPerTurn = 500

interface EncoderThread {
  readonly worker: Worker
  /** Rejects when it has ended. */
  readonly gone: Promise<never>
}

interface Job {
  readonly main: Bundle
  readonly done: Promise<EncodedTexts>
  /** Revision of the records that the thread has; undefined: it does not have all of them yet. */
  revision?: number
}

export class WrittenEncoder {
  readonly #texts: WrittenRecords
  #last: WrittenBundle | undefined
  #thread: EncoderThread | undefined
  /** Names whose rrsets the thread does not have as they are now. */
  #unsent = new Set<string>()
  #running: Job | undefined
  /** Jobs that wait for the running one. */
  #waiting: Job[] = []
  #turns: Promise<unknown> = Promise.resolve()
  #isStopped = false

  constructor(texts: WrittenRecords) {
    this.#texts = texts
  }

  /** @param names of which the records have changed */
  changed(names: readonly string[]): void {
    if (this.#thread === undefined) return
    for (const name of names) this.#unsent.add(name)
  }

  /**
   * Encodes the records as they are when its work begins, or newer ones. A call during that work
   * waits for the next run, which it shares with all other calls for the same main bundle.
   */
  encode(main: Bundle): EncodedTexts | Promise<EncodedTexts> {
    const { count, bytes } = this.#texts
    const isSmall = count <= encodedHere.names && bytes <= encodedHere.bytes
    if (this.#thread === undefined && this.#running === undefined && isSmall)
      return this.#here(main)
    const known = [this.#running, ...this.#waiting].find((job) => this.#isAsGood(job, main))
    if (known !== undefined) return known.done
    const { promise, resolve, reject } = Promise.withResolvers<EncodedTexts>()
    const job: Job = { main, done: promise }
    this.#waiting.push(job)
    this.#turns = this.#turns.then(async () => {
      this.#waiting = this.#waiting.filter((other) => other !== job)
      this.#running = job
      await this.#there(job).then(resolve, reject)
      this.#running = undefined
    })
    return promise
  }

  /** Its records will be, or are, those that are here now. */
  #isAsGood(job: Job | undefined, main: Bundle): boolean {
    if (job?.main.digest !== main.digest) return false
    return job.revision === undefined || job.revision === this.#texts.revision
  }

  /** What is encoded then fails. */
  async stop(): Promise<void> {
    this.#isStopped = true
    await this.#thread?.worker.terminate()
  }

  #here(main: Bundle): EncodedTexts {
    const { records, revision } = this.#texts.snapshot()
    this.#last = encodeWritten(records, main, this.#last)
    const { handed, outside, leftOut, hidden } = this.#last
    return { handed, outside, leftOut, hidden, revision, mainDigest: main.digest }
  }

  async #there(job: Job): Promise<EncodedTexts> {
    if (this.#isStopped) throw new Error('the node has stopped')
    const { main } = job
    const { worker, gone } = this.#thread ?? this.#startThread()
    this.#last = undefined
    const post = (message: ToEncoder): void => worker.postMessage(message)
    while (this.#unsent.size > 0) {
      post({ kind: 'names', names: this.#takeUnsent() })
      if (this.#unsent.size > 0) await nextTurn()
    }
    const { revision } = this.#texts
    job.revision = revision
    const reply = new Promise<FromEncoder>((resolve) => worker.once('message', resolve))
    post({ kind: 'encode', bytes: main.bytes, digest: main.digest })
    const encoded = await Promise.race([reply, gone])
    return { ...encoded, revision, mainDigest: main.digest }
  }

  #takeUnsent(): WrittenName[] {
    const names: WrittenName[] = []
    for (const name of this.#unsent) {
      if (names.length === namesPerTurn) break
      this.#unsent.delete(name)
      names.push(this.#texts.find(name) ?? goneName(name))
    }
    return names
  }

  #startThread(): EncoderThread {
    const worker = new Worker(new URL('./encoder-worker.ts', import.meta.url), {
      name: 'dns-texts',
    })
    worker.unref()
    // The job that waits for it fails; the next one starts another.
    const gone = new Promise<never>((_, reject) => {
      const end = (error: unknown): void => {
        this.#thread = undefined
        reject(error instanceof Error ? error : new Error('the thread for written records ended'))
      }
      worker.once('error', end)
      worker.once('exit', end)
    })
    gone.catch(() => undefined)
    this.#unsent = new Set(this.#texts.names())
    return (this.#thread = { worker, gone })
  }
}

/** Its name is of a record that was there, and so good. */
function goneName(name: string): WrittenName {
  const wire = parseName(name)
  return { name: wire.ok ? wire.value : root, rrsets: [] }
}

const root = new Uint8Array(1)
