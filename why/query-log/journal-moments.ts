// Finds moments of a journal for many records: only files around an instant are read, and kept for
// the next.
import { readFileSync } from 'node:fs'
import { journalFault } from '#why/journal-fault.ts'
import { findMoment } from '#journal/moment.ts'
import type { Gap, Moment } from '#journal/moment.ts'
import { firstWallMs } from '#journal/format/records.ts'
import { segmentFiles } from '#journal/segment-files.ts'

interface Segment {
  readonly path: string
  /** By the clock of the time; Infinity: unknown. */
  readonly beginMs: number
}

/** Segments after the one of the instant: the next segment of the process tells how it ended. */
const following = 3
const keptMax = 8

export class JournalMoments {
  /** Segments, the newest first. */
  readonly #segments: readonly Segment[]
  readonly #kept = new Map<string, Buffer>()
  readonly #directory: string
  #fault: string | undefined

  constructor(directory: string) {
    this.#directory = directory
    this.#segments = segmentFiles(directory)
      .toReversed()
      .map(({ path }) => ({ path, beginMs: firstWallMs(this.#read(path)) ?? Infinity }))
  }

  /**
   * After a clock was set back by more than a segment, `findMoment` over all files is more exact.
   */
  at(atMs: number): Moment | Gap {
    const holding = this.#segments.findIndex(({ beginMs }) => beginMs <= atMs)
    const last = holding < 0 ? this.#segments.length - 1 : holding
    const around = this.#segments.slice(Math.max(0, last - following), last + 1)
    const found = findMoment(this.#buffers(around), atMs)
    if (found.kind === 'moment' || found.why !== 'empty') return found
    this.#fault ??= journalFault(this.#directory) ?? ''
    return { ...found, reason: this.#fault }
  }

  *#buffers(segments: readonly Segment[]): Generator<Buffer> {
    for (const { path } of segments) yield this.#read(path)
  }

  /** A file that cannot be read counts as empty. */
  #read(path: string): Buffer {
    const known = this.#kept.get(path)
    if (known !== undefined) return known
    const [oldest] = this.#kept.keys()
    if (this.#kept.size >= keptMax && oldest !== undefined) this.#kept.delete(oldest)
    let octets: Buffer
    try {
      octets = readFileSync(path)
    } catch {
      octets = Buffer.alloc(0)
    }
    this.#kept.set(path, octets)
    return octets
  }
}
