// Writes dnstap records to a file, one whole stream in each; rotates files and deletes the oldest.
// It may block: it has its own thread.
import {
  closeSync,
  fstatSync,
  ftruncateSync,
  openSync,
  renameSync,
  rmSync,
  statSync,
  writeSync,
} from 'node:fs'
import { backoffMs } from '#lib/backoff.ts'
import type { Log } from '#lib/log.ts'
import { ControlType, controlFrame } from './frame-stream.ts'
import { queryLogLimits } from './limits.ts'
import { FrameBatch, noCounts } from './sink.ts'
import type { Sink } from './sink.ts'

interface FileSinkParts {
  readonly path: string
  /** Octets after which a file is closed and the next one begun. */
  readonly fileBytesMax: number
  /** Number of closed files, kept as `PATH.1` (the newest), `PATH.2` and so on. */
  readonly keptFiles: number
  readonly log: Log
  readonly monotonicMs: () => number
}

const stop = controlFrame(ControlType.Stop)

export class FileSink implements Sink {
  readonly counts = noCounts()
  readonly #parts: FileSinkParts
  readonly #batch = new FrameBatch()
  #file: number | undefined
  /** Octets of whole frames in the file. */
  #fileBytes = 0
  #failures = 0
  #tryAtMs = -Infinity

  constructor(parts: FileSinkParts) {
    this.#parts = parts
  }

  write(record: Uint8Array): void {
    this.#batch.add(record)
    if (this.#batch.isFull) this.flush()
  }

  flush(): void {
    const { records } = this.#batch
    if (records === 0) return
    const octets = this.#batch.take()
    if (this.#parts.monotonicMs() < this.#tryAtMs) {
      this.counts.dropped += records
      return
    }
    try {
      this.#put(octets)
      this.counts.written += records
      this.counts.bytes += octets.length
      this.#succeeded()
    } catch (error) {
      this.counts.dropped += records
      this.#failed(error as Error)
    }
  }

  async close(): Promise<void> {
    this.flush()
    try {
      this.#end()
    } catch {
      // The file can be read without its closing frame, too.
    }
    this.counts.isUp = false
    return Promise.resolve()
  }

  #put(octets: Buffer): void {
    const isTooLong = this.#fileBytes + octets.length + stop.length > this.#parts.fileBytesMax
    if (this.#file !== undefined && isTooLong) {
      if (this.#isTaken(this.#file)) throw new Error('another process writes to it')
      this.#end()
    }
    const file = (this.#file ??= this.#begin())
    this.#append(file, octets)
    this.#fileBytes += octets.length
  }

  /** Throws on a full disk, possibly with half a frame behind the whole ones. */
  #append(file: number, octets: Buffer): void {
    for (let at = 0; at < octets.length;) {
      at += writeSync(file, octets, at, octets.length - at, this.#fileBytes + at)
    }
  }

  #begin(): number {
    this.#shift()
    const { path } = this.#parts
    const file = openSync(path, 'wx', 0o640)
    const start = controlFrame(ControlType.Start)
    this.#fileBytes = 0
    try {
      this.#append(file, start)
    } catch (error) {
      // Removes the file just begun, so that retries do not shift the closed ones.
      closeSync(file)
      rmSync(path, { force: true })
      throw error
    }
    this.#fileBytes = start.length
    return file
  }

  /**
   * A stream cannot be continued, so an existing file, of this process or an earlier one, is
   * shifted. Without one, closed files keep their numbers: a file that cannot be opened is retried,
   * and each try would cost the oldest of them.
   */
  #shift(): void {
    const { path, keptFiles } = this.#parts
    const named = (i: number): string => (i === 0 ? path : `${path}.${i}`)
    if (statSync(path, { throwIfNoEntry: false }) === undefined) return
    for (let i = keptFiles; i >= 0; i--) {
      const found = statSync(named(i), { throwIfNoEntry: false })
      if (found === undefined) continue
      // A device or a directory must not be renamed.
      if (!found.isFile()) throw new Error(`${named(i)} is there, and is no file`)
      if (i === keptFiles) rmSync(named(i))
      else renameSync(named(i), named(i + 1))
    }
  }

  /** The next process has begun its own file. */
  #isTaken(file: number): boolean {
    const found = statSync(this.#parts.path, { throwIfNoEntry: false })
    return found !== undefined && found.ino !== fstatSync(file).ino
  }

  #end(): void {
    const file = this.#file
    if (file === undefined) return
    this.#file = undefined
    try {
      this.#append(file, stop)
    } finally {
      closeSync(file)
    }
  }

  #succeeded(): void {
    const { log, path } = this.#parts
    if (this.#failures > 0) log.info({ file: path }, 'the query log is written again')
    this.#failures = 0
    Object.assign(this.counts, { isUp: true, isFailing: false })
  }

  #failed(error: Error): void {
    const { log, path, monotonicMs } = this.#parts
    if (this.#failures++ === 0) {
      log.error(
        { file: path, reason: error.message },
        'the query log cannot be written; its records are lost until it can',
      )
    }
    this.#tryAtMs = monotonicMs() + backoffMs(queryLogLimits.retries, this.#failures)
    Object.assign(this.counts, { isUp: false, isFailing: true })
    try {
      // Half a frame would make all frames after it unreadable.
      if (this.#file !== undefined) ftruncateSync(this.#file, this.#fileBytes)
    } catch {
      this.#abandon()
    }
  }

  #abandon(): void {
    const file = this.#file
    this.#file = undefined
    if (file !== undefined) closeSync(file)
  }
}
