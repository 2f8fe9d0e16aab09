// Reads many files of configuration with a second thread: each takes the next ones when it is free.
import { Worker } from 'node:worker_threads'
import { isRead } from '#compiler/read/layout.ts'
import type { ReadFile } from '#compiler/read/read-file.ts'
import { fileBytesMax } from '#compiler/read/source.ts'
import type { SourceFile } from '#compiler/read/source.ts'
import type { Tell } from '#lib/log.ts'
import { readChunks } from './read-job.ts'
import type { ReadJob } from './read-job.ts'

/** Fewer files are read before a thread has started. */
const filesMin = 1_000
/** Size of the young generation: what the thread reads lives longer, and is moved once less. */
const youngMegabytes = 24

/** Starts its thread while further files are still being found. */
export class ReadAhead {
  readonly #filesMin: number
  #worker: Worker | undefined
  #helped: Promise<readonly ReadFile[]> = Promise.resolve([])

  /** @param least number of files for which a thread is started; tests pass fewer */
  constructor(least = filesMin) {
    this.#filesMin = least
  }

  /** Starts the thread when enough files are expected. */
  expect(count: number): void {
    if (count < this.#filesMin) return
    if (this.#worker !== undefined) return
    this.#worker = new Worker(new URL('./read-worker.ts', import.meta.url), {
      env: {},
      resourceLimits: { maxYoungGenerationSizeMb: youngMegabytes },
    })
    // Listens from the start, since the thread may end before there is work.
    this.#helped = answerOf(this.#worker)
  }

  /** @returns what each file contains, by blob id; nothing when files are too few */
  async read(files: readonly SourceFile[], tell?: Tell): Promise<ReadonlyMap<string, ReadFile>> {
    const found = new Map<string, ReadFile>()
    const job = jobOf(files)
    this.expect(job.blobIds.length)
    const worker = this.#worker
    if (worker === undefined) return found
    worker.postMessage(job)
    for (const file of readChunks(job)) {
      found.set(file.blobId, file)
      const { length } = job.blobIds
      tell?.('compiling: file', Math.min(job.next[0]!, length), length)
    }
    // After a failure of the thread, the compiler reads what is missing.
    for (const file of await this.#helped) found.set(file.blobId, file)
    this.close()
    return found
  }

  /** To be called when nothing more is to be read. */
  close(): void {
    void this.#worker?.terminate()
    this.#worker = undefined
  }
}

function answerOf(worker: Worker): Promise<readonly ReadFile[]> {
  const { promise, resolve } = Promise.withResolvers<readonly ReadFile[]>()
  const fail = (): void => resolve([])
  worker.on('message', resolve).on('error', fail).on('exit', fail)
  return promise
}

/** Each content once, of files that the compiler reads. */
function jobOf(files: readonly SourceFile[]): ReadJob {
  const bytesOf = new Map<string, Uint8Array>()
  for (const { path, kind, blobId, bytes, sizeBytes } of files) {
    if (kind !== 'file' || bytes === null || sizeBytes > fileBytesMax || !isRead(path)) continue
    bytesOf.set(blobId, bytes)
  }
  const lengths = [...bytesOf.values()].map(({ length }) => length)
  const total = lengths.reduce((sum, length) => sum + length, 0)
  const octets = new Uint8Array(new SharedArrayBuffer(total))
  const offsets = new Float64Array(new SharedArrayBuffer((lengths.length + 1) * 8))
  let at = 0
  for (const [i, bytes] of [...bytesOf.values()].entries()) {
    octets.set(bytes, at)
    at += bytes.length
    offsets[i + 1] = at
  }
  const next = new Int32Array(new SharedArrayBuffer(4))
  return { blobIds: [...bytesOf.keys()], offsets, octets, next }
}
