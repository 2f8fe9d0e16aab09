// Writes records to segments: one write at a time, from a bounded queue, until a disk is full.
import { assert } from '#lib/assert.ts'
import type { Clock } from '#lib/clock.ts'
import type { Log } from '#lib/log.ts'
import { journalLimits } from '#journal/format/limits.ts'
import { magic } from '#journal/format/records.ts'
import type { SegmentHead } from '#journal/format/records.ts'
import {
  makeDirectory,
  openSegment,
  pruneSegments,
  removeSegment,
  segmentFiles,
  segmentPath,
} from './segment-files.ts'
import type { OpenSegment, SegmentHandle } from './segment-files.ts'

interface JournalFileParts {
  readonly directory: string
  readonly bytesMax: number
  readonly ageMaxMs: number
  readonly clock: Clock
  readonly log: Log
  readonly mayWrite?: Promise<unknown>
  readonly openSegment?: OpenSegment
  /** Octets that may wait for the disk; default `journalLimits.queueBytesMax`. */
  readonly queueBytesMax?: number
  /** Octets of a segment; default `journalLimits.segmentBytesMin`. */
  readonly segmentBytesMin?: number
}

export interface JournalStatus {
  /** Why nothing is written, in a sentence; null: there is no error. */
  readonly error: string | null
  /** Unix epoch; null: there is no error. */
  readonly errorSinceMs: number | null
  /** Octets of all segments. */
  readonly bytes: number
  /** Octets since the start of the process. */
  readonly writtenBytes: number
  /** How often records were lost, since the disk was full or too slow. */
  readonly losses: number
}

/** Records of a segment, or of a part of one. */
interface Batch {
  /** True: they begin a segment. */
  readonly isFirst: boolean
  readonly records: Buffer[]
}

export class JournalFile {
  readonly #parts: JournalFileParts
  #queue: Batch[] = []
  #queueBytes = 0
  /** False until a segment begins: no record is taken before. */
  #isBegun = false
  #lostFor = ''
  /** When the segment in the queue began, and its octets so far. */
  #sinceMs = 0
  #segmentBytes = 0
  #stateBytes = 0
  #handle: SegmentHandle | undefined
  /** Path of a segment without any record yet. */
  #emptyPath: string | undefined
  #writing: Promise<void> | undefined
  #isAllowed: boolean
  #isClosed = false
  #error: string | null = null
  #errorSinceMs: number | null = null
  #retryAtMs = 0
  #bytes = 0
  #writtenBytes = 0
  #losses = 0

  constructor(parts: JournalFileParts) {
    this.#parts = parts
    this.#isAllowed = parts.mayWrite === undefined
    parts.mayWrite?.then(
      () => (this.#isAllowed = true),
      () => (this.#isClosed = true),
    )
  }

  /** Queues a record. Before a segment begins it is dropped: the segment's first state has it. */
  add(record: Buffer): void {
    if (!this.#isBegun || this.#isClosed) return
    const last = this.#queue.at(-1)
    if (last === undefined) this.#queue.push({ isFirst: false, records: [record] })
    else last.records.push(record)
    this.#count(record.length)
  }

  begin(records: readonly Buffer[]): void {
    if (this.#isClosed) return
    this.#isBegun = true
    this.#lostFor = ''
    this.#sinceMs = this.#parts.clock.monotonicMs()
    this.#segmentBytes = 0
    // Set first: a state larger than the queue is no loss.
    this.#stateBytes = records.reduce((sum, record) => sum + record.length, 0)
    this.#queue.push({ isFirst: true, records: [...records] })
    this.#count(this.#stateBytes)
  }

  /**
   * Why a new segment is to begin; undefined: it is not.
   *
   * @param isEven true when all lists are up to date: a good moment
   */
  wants(isEven: boolean): Pick<SegmentHead, 'why' | 'lost'> | undefined {
    const nowMs = this.#parts.clock.monotonicMs()
    if (!this.#isBegun) {
      if (nowMs < this.#retryAtMs) return undefined
      return this.#lostFor === '' ? { why: 'started' } : { why: 'resumed', lost: this.#lostFor }
    }
    const limits = journalLimits
    const share = this.#parts.bytesMax / limits.segmentsMin
    const { segmentBytesMin = Math.max(share, limits.segmentBytesMin) } = this.#parts
    const wanted = Math.min(segmentBytesMin, limits.segmentBytesMax)
    const bytesMax = Math.max(wanted, this.#stateBytes * limits.segmentPerState)
    const isOld = nowMs - this.#sinceMs >= limits.segmentMs
    const isDue = isOld || this.#segmentBytes >= bytesMax
    const isLate = this.#segmentBytes >= bytesMax * 2
    return (isDue && isEven) || isLate ? { why: 'rotated' } : undefined
  }

  /** Resolves when all records are written, or cannot be. Never rejects. */
  async flush(): Promise<void> {
    while (this.#writing !== undefined) await this.#writing
    if (!this.#isAllowed || this.#isClosed) return
    this.#writing = this.#write().finally(() => (this.#writing = undefined))
    await this.#writing
  }

  /** A write under way has begun without the latest records. */
  flushSoon(): void {
    if (this.#writing === undefined) void this.flush()
  }

  async close(): Promise<void> {
    await this.flush()
    this.#isClosed = true
    await this.#handle?.close().catch(() => undefined)
    this.#handle = undefined
  }

  status(): JournalStatus {
    return {
      ...{ error: this.#error, errorSinceMs: this.#errorSinceMs, bytes: this.#bytes },
      ...{ writtenBytes: this.#writtenBytes, losses: this.#losses },
    }
  }

  #count(bytes: number): void {
    this.#segmentBytes += bytes
    this.#queueBytes += bytes
    const { queueBytesMax = journalLimits.queueBytesMax } = this.#parts
    if (this.#queueBytes > queueBytesMax + this.#stateBytes) {
      this.#lose('the disk is slower than the changes')
    }
  }

  async #write(): Promise<void> {
    const batches = this.#queue
    this.#queue = []
    this.#queueBytes = 0
    if (batches.length === 0) return
    try {
      for (const { isFirst, records } of batches) {
        if (isFirst) await this.#openNext()
        await this.#append(Buffer.concat(isFirst ? [magic, ...records] : records))
        this.#emptyPath = undefined
        if (isFirst) this.#prune()
      }
      this.#recovered()
    } catch (error) {
      await this.#failed(error)
    }
  }

  async #append(octets: Buffer): Promise<void> {
    assert(this.#handle !== undefined, 'records follow the beginning of a segment')
    await this.#handle.append(octets)
    this.#bytes += octets.length
    this.#writtenBytes += octets.length
  }

  #prune(): void {
    const { directory, clock } = this.#parts
    this.#bytes = pruneSegments(directory, this.#parts, clock.nowMs())
  }

  async #openNext(): Promise<void> {
    const { directory } = this.#parts
    makeDirectory(directory)
    await this.#handle?.close().catch(() => undefined)
    this.#handle = undefined
    const open = this.#parts.openSegment ?? openSegment
    for (let more = 1; ; more++) {
      const number = (segmentFiles(directory).at(-1)?.number ?? 0) + more
      const path = segmentPath(directory, number)
      try {
        this.#handle = await open(path)
        this.#emptyPath = path
        return
      } catch (error) {
        const isTaken = (error as NodeJS.ErrnoException).code === 'EEXIST'
        if (!isTaken || more > takenMax) throw error
      }
    }
  }

  async #failed(error: unknown): Promise<void> {
    const { clock, log } = this.#parts
    const reason = error instanceof Error ? error.message : String(error)
    await this.#handle?.close().catch(() => undefined)
    this.#handle = undefined
    // Otherwise a disk that is full for days would get a file at each try.
    if (this.#emptyPath !== undefined) removeSegment(this.#emptyPath)
    this.#emptyPath = undefined
    this.#retryAtMs = clock.monotonicMs() + journalLimits.retryMs
    if (this.#error === null) {
      this.#errorSinceMs = clock.nowMs()
      log.error(
        { err: error },
        'the journal has ended: answers from now on cannot be explained later; free space or ' +
          'mend the data directory, and it goes on by itself',
      )
    }
    this.#error = reason
    this.#lose(reason)
  }

  #recovered(): void {
    if (this.#error === null) return
    this.#error = null
    this.#errorSinceMs = null
    this.#parts.log.info({}, 'the journal goes on')
  }

  /** Drops all waiting records, and further ones until another segment begins. */
  #lose(reason: string): void {
    this.#queue = []
    this.#queueBytes = 0
    this.#isBegun = false
    this.#lostFor = reason
    this.#losses++
  }
}

/** Numbers that may be taken: two processes write while one replaces the other. */
const takenMax = 100
