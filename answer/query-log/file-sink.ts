// Writes dnstap records to a file, a whole stream in each; of many files the oldest go. It may
// block: it has a thread of its own.
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

export interface FileSinkParts {
  readonly path: string
  /** A file that would get longer is closed, and the next one begun. */
  readonly fileBytesMax: number
  /** How many closed files are kept, as `PATH.1` (the newest), `PATH.2` and so on. */
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
  /** Octets of the file that are whole frames. */
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
      // Without its last frame it can be read as well.
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

  /** Throws, with half a frame behind those that are whole, where the disk is full. */
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
      // The file before keeps its number, however often this is tried.
      closeSync(file)
      rmSync(path, { force: true })
      throw error
    }
    this.#fileBytes = start.length
    return file
  }

  /**
   * A stream cannot be continued: what is there, of this process or one before, is put aside. Where
   * nothing is, closed files keep their numbers: a file that cannot be begun is tried again and
   * again, and each try would cost the oldest of them.
   */
  #shift(): void {
    const { path, keptFiles } = this.#parts
    const named = (i: number): string => (i === 0 ? path : `${path}.${i}`)
    if (statSync(path, { throwIfNoEntry: false }) === undefined) return
    for (let i = keptFiles; i >= 0; i--) {
      const found = statSync(named(i), { throwIfNoEntry: false })
      if (found === undefined) continue
      // A device or a directory is not ours to rename.
      if (!found.isFile()) throw new Error(`${named(i)} is there, and is no file`)
      if (i === keptFiles) rmSync(named(i))
      else renameSync(named(i), named(i + 1))
    }
  }

  /** The process that comes after this one has begun its own. */
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
      // Half a frame would make all after it unreadable.
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
