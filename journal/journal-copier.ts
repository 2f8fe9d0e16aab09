// Copies the segments of a journal to where other nodes can read them. It reads the files, so that
// it needs no memory while the copy fails, and catches up with what is still there.
import { open } from 'node:fs/promises'
import type { FileHandle } from 'node:fs/promises'
import type { Clock } from '#lib/clock.ts'
import type { Log } from '#lib/log.ts'
import type { Result } from '#lib/result.ts'
import { copyLimits } from '#journal/format/limits.ts'
import {
  magic,
  readRecords,
  readRecordsFrom,
  recordBytesAt,
  segmentHead,
} from '#journal/format/records.ts'
import { segmentFiles } from './segment-files.ts'
import type { SegmentFile } from './segment-files.ts'
import type { CopiedPart } from './segment-part.ts'

/** The destination of the copy. */
export interface CopySink {
  /** @returns octets of the segment that are stored now */
  readonly add: (part: CopiedPart) => Promise<Result<number, CopyFault>>
}

/**
 * `refused`: these octets will never be taken. `absent`: the destination takes no journals, or not
 * yet. `away`: they may be taken later.
 */
interface CopyFault {
  readonly code: 'refused' | 'absent' | 'away'
  readonly message: string
}

interface JournalCopierParts {
  readonly directory: string
  readonly sink: CopySink
  readonly clock: Clock
  readonly log: Log
}

interface CopyStatus {
  /** Why nothing is copied, in a sentence; null: there is no error. */
  readonly error: string | null
  /** Unix epoch; null: there is no error. */
  readonly errorSinceMs: number | null
  /** Segments that are not copied to their end. */
  readonly segmentsBehind: number
  /** Octets since the start of the process. */
  readonly copiedBytes: number
  /** Segments that were refused, wholly or in part. */
  readonly refused: number
}

interface Progress {
  name?: { readonly node: string; readonly run: string } | undefined
  /** Octets that are stored; undefined: unknown yet. */
  at?: number
  /** How often fewer octets were stored than before. */
  backs: number
  /** True: no more of it will be copied. */
  isDone: boolean
}

/** Octets that contain the first record of any segment. */
const headBytes = 4_096

export class JournalCopier {
  readonly #parts: JournalCopierParts
  readonly #progress = new Map<number, Progress>()
  #looking: Promise<void> | undefined
  #isStopped = false
  #failures = 0
  #restUntilMs = -Infinity
  #budget = { bytes: 0, asks: 0 }
  #error: string | null = null
  #errorSinceMs: number | null = null
  #segmentsBehind = 0
  #copiedBytes = 0
  #refused = 0

  constructor(parts: JournalCopierParts) {
    this.#parts = parts
  }

  /** Copies new records, and some of those behind. Never rejects. */
  async look(): Promise<void> {
    if (this.#isStopped || this.#parts.clock.monotonicMs() < this.#restUntilMs) return
    this.#looking ??= this.#look().finally(() => (this.#looking = undefined))
    await this.#looking
  }

  /** Stops after a last look, which copies the last records. */
  async stop(): Promise<void> {
    await this.#looking
    await this.look()
    this.#isStopped = true
  }

  status(): CopyStatus {
    return {
      ...{ error: this.#error, errorSinceMs: this.#errorSinceMs },
      ...{ segmentsBehind: this.#segmentsBehind, copiedBytes: this.#copiedBytes },
      refused: this.#refused,
    }
  }

  async #look(): Promise<void> {
    this.#budget = { bytes: copyLimits.bytesPerLook, asks: copyLimits.asksPerLook }
    const files = segmentFiles(this.#parts.directory).toReversed()
    const numbers = new Set(files.map(({ number }) => number))
    for (const number of this.#progress.keys()) {
      if (!numbers.has(number)) this.#progress.delete(number)
    }
    // The newest first: it is read most, and the oldest is dropped first where room is short.
    for (const [i, file] of files.entries()) {
      const progress = this.#progress.get(file.number) ?? { backs: 0, isDone: false }
      this.#progress.set(file.number, progress)
      if (!progress.isDone && !(await this.#copy(file, progress, i === 0))) break
    }
    this.#segmentsBehind = [...this.#progress.values()].filter(({ isDone }) => !isDone).length
  }

  /** @returns false: nothing more in this look */
  async #copy(file: SegmentFile, progress: Progress, isNewest: boolean): Promise<boolean> {
    let handle: FileHandle | undefined
    try {
      handle = await open(file.path, 'r')
      return await this.#copyFrom(handle, file.number, progress, isNewest)
    } catch {
      // The file was removed, or cannot be read; the next look finds out.
      return true
    } finally {
      await handle?.close().catch(() => undefined)
    }
  }

  async #copyFrom(
    file: FileHandle,
    number: number,
    progress: Progress,
    isNewest: boolean,
  ): Promise<boolean> {
    progress.name ??= nameIn(await octetsAt(file, 0, headBytes))
    const { name } = progress
    if (name === undefined) {
      progress.isDone = !isNewest
      return true
    }
    for (;;) {
      const { at } = progress
      const octets = at === undefined ? nothing : await wholeRecords(file, at)
      if (at !== undefined && octets.length === 0) {
        progress.isDone = !isNewest
        return true
      }
      if (this.#budget.asks-- <= 0 || this.#budget.bytes <= 0) return false
      this.#budget.bytes -= octets.length
      const added = await this.#parts.sink.add({ ...name, number, at: at ?? 0, octets })
      if (!added.ok && added.error.code === 'refused') {
        this.#giveUp(progress, added.error.message)
        return true
      }
      if (!added.ok) {
        this.#failed(added.error)
        return false
      }
      this.#worked()
      if (at !== undefined && added.value <= at && !mayGoBack(progress, at - added.value)) {
        this.#giveUp(progress, 'there is no room for it, or it was removed there')
        return true
      }
      if (added.value === (at ?? 0) + octets.length) this.#copiedBytes += octets.length
      progress.at = added.value
    }
  }

  /** Stops copying a segment for good, so that a refused one is not sent again and again. */
  #giveUp(progress: Progress, reason: string): void {
    progress.isDone = true
    this.#refused++
    if (this.#refused > 1) return
    this.#parts.log.warn({}, `a segment of the journal is not copied to its end: ${reason}`)
  }

  #failed({ code, message }: CopyFault): void {
    const { clock, log } = this.#parts
    const { retryMs, retryMsMax } = copyLimits
    const restMs = Math.min(retryMs * 2 ** this.#failures++, retryMsMax)
    this.#restUntilMs = clock.monotonicMs() + restMs
    // A web server never takes journals; a control node does when it has a database.
    if (code === 'absent') return
    if (this.#error === null) {
      this.#errorSinceMs = clock.nowMs()
      log.warn(
        {},
        `the journal is not copied to where other nodes can read it: ${message}; ` +
          'it is made up for later, as far as it is still in the data directory',
      )
    }
    this.#error = message
  }

  #worked(): void {
    this.#failures = 0
    if (this.#error === null) return
    this.#error = null
    this.#errorSinceMs = null
    this.#parts.log.info({}, 'the journal is copied again')
  }
}

/**
 * Whether to send again what the destination has lost: another control node may have taken over.
 *
 * @param lessBytes how many fewer are stored than before; 0: there is no room for more
 */
const mayGoBack = (progress: Progress, lessBytes: number): boolean =>
  lessBytes > 0 && progress.backs++ < copyLimits.backMax

const nothing = Buffer.alloc(0)

function nameIn(beginning: Buffer): Progress['name'] {
  const [first] = readRecords(beginning).records
  const head = first === undefined ? undefined : segmentHead(first)
  return head === undefined ? undefined : { node: head.node, run: head.run }
}

async function octetsAt(file: FileHandle, at: number, count: number): Promise<Buffer> {
  const { buffer, bytesRead } = await file.read(Buffer.alloc(count), 0, count, at)
  return buffer.subarray(0, bytesRead)
}

/** Whole records from an offset. Empty: none yet, too long, or damaged. */
async function wholeRecords(file: FileHandle, at: number): Promise<Buffer> {
  const { partBytes, recordBytesMax } = copyLimits
  const beginAt = at === 0 ? magic.length : 0
  const part = await octetsAt(file, at, partBytes)
  const whole = wholeIn(part, beginAt)
  if (whole > beginAt) return part.subarray(0, whole)
  const length = recordBytesAt(part, beginAt) ?? 0
  if (length <= part.length - beginAt || length > recordBytesMax) return nothing
  const longer = await octetsAt(file, at, beginAt + length)
  return wholeIn(longer, beginAt) > beginAt ? longer : nothing
}

/** Octets up to the end of the last whole record. */
const wholeIn = (octets: Buffer, beginAt: number): number =>
  octets.length - readRecordsFrom(octets, beginAt).lostBytes
