// Finds an instant in a journal: which bundle was active, and from which state. It distinguishes a
// set clock, a cut file and a stopped node from silence.
import { readFileSync } from 'node:fs'
import { readEntries } from '#journal/format/changes.ts'
import { journalLimits } from '#journal/format/limits.ts'
import { OctetReader } from '#journal/format/octets.ts'
import {
  generationOf,
  jsonOf,
  readRecords,
  RecordKind,
  segmentHead,
} from '#journal/format/records.ts'
import type {
  ChangesUntil,
  GenerationHead,
  JournalRecord,
  SegmentHead,
} from '#journal/format/records.ts'
import { segmentFiles } from './segment-files.ts'

export interface Moment {
  readonly kind: 'moment'
  readonly atMs: number
  readonly segment: SegmentHead
  readonly generation: GenerationHead
  /** The previous bundle, while some threads still answered from it; else null. */
  readonly before: GenerationHead | null
  /** When this bundle became active; null: before the journal begins. */
  readonly sinceMs: number | null
  /** The first state of the segment; `changes` follow in order. */
  readonly state: Buffer
  readonly changes: readonly ChangesUntil[]
  /** The databases that were loaded. */
  readonly tables: Readonly<Record<string, unknown>>
  /** True: the clock has shown this instant more than once, and this is the last time. */
  readonly isRepeated: boolean
}

/** The journal has no record of that instant. */
export interface Gap {
  readonly kind: 'gap'
  /** The journal ends at `endMs` before the instant, and begins again at `beginMs`; null: never. */
  readonly endMs: number | null
  readonly beginMs: number | null
  /** `stopped`: the node was down; `lost`: it was up, and could not write; `unknown`: neither. */
  readonly why: 'empty' | 'stopped' | 'lost' | 'unknown'
  /** The cause, for `lost`, and for `empty` though there are files. */
  readonly reason: string
}

/** Segments, the newest first; an empty buffer stands for missing ones. */
export type Segments = Iterable<Buffer>

/** A file that cannot be read, or is gone, counts as empty. */
export function* segmentsIn(directory: string): Generator<Buffer> {
  let before: number | undefined
  for (const { path, number } of segmentFiles(directory).toReversed()) {
    if (before !== undefined && before - number > 1) yield Buffer.alloc(0)
    before = number
    try {
      yield readFileSync(path)
    } catch {
      yield Buffer.alloc(0)
    }
  }
}

/** Finds the last moment, where the clock has shown the instant several times. */
export function findMoment(segments: Segments, atMs: number): Moment | Gap {
  const search = new Search(atMs)
  for (const file of segments) {
    if (search.look(file)) break
  }
  return search.result()
}

/** How a later segment of the same process begins. */
interface Following {
  readonly monotonicMs: number
  readonly wallMs: number
  readonly head: SegmentHead
}

interface Period {
  readonly fromMs: number
  /** Exclusive. */
  readonly toMs: number
}

class Search {
  readonly #atMs: number
  readonly #following = new Map<string, Following>()
  #found: Moment | undefined
  #isAny = false
  /** Ends and beginnings around the instant, with their cause. */
  #end: { readonly ms: number; readonly why: Gap['why']; readonly reason: string } | undefined
  #beginMs: number | undefined

  constructor(atMs: number) {
    this.#atMs = atMs
  }

  /** @returns true when older segments do not matter */
  look(file: Buffer): boolean {
    const { records, lostBytes } = readRecords(file)
    const [first] = records
    const head = first === undefined ? undefined : segmentHead(first)
    if (first === undefined || head === undefined) {
      // The changes after the previous segment are unknown.
      this.#following.clear()
      return false
    }
    if (this.#found !== undefined) return this.#lookForBeginning(records)
    this.#isAny = true
    const following = this.#following.get(head.run)
    const { wallMs, monotonicMs } = first
    const hit = this.#walk(head, records, lostBytes > 0, following)
    this.#following.set(head.run, { wallMs, monotonicMs, head })
    this.#found = hit
    return hit !== undefined && hit.sinceMs !== null
  }

  result(): Moment | Gap {
    if (this.#found !== undefined) return this.#found
    return {
      kind: 'gap',
      endMs: this.#end?.ms ?? null,
      beginMs: this.#beginMs ?? null,
      why: this.#isAny ? (this.#end?.why ?? 'unknown') : 'empty',
      reason: this.#end?.reason ?? '',
    }
  }

  #walk(
    head: SegmentHead,
    records: readonly JournalRecord[],
    isCut: boolean,
    following: Following | undefined,
  ): Moment | undefined {
    const walk = new SegmentWalk(head, this.#atMs)
    let found: Moment | undefined
    for (const [i, record] of records.entries()) {
      const after = records[i + 1]
      walk.take(record)
      const period =
        record.kind === RecordKind.Stop
          ? undefined
          : after === undefined
            ? lastPeriod(record, isCut, following, lastEntryMs(records))
            : periodOf(record, after)
      if (period === undefined || this.#atMs < period.fromMs) {
        this.#note(period, record, after, following)
        continue
      }
      if (this.#atMs >= period.toMs) {
        this.#note(period, record, after, following)
        continue
      }
      const hit = walk.moment(record, found !== undefined)
      if (hit !== undefined) found = hit
    }
    return found
  }

  #note(
    period: Period | undefined,
    record: JournalRecord,
    after: JournalRecord | undefined,
    following: Following | undefined,
  ): void {
    const endMs = period?.toMs ?? record.wallMs
    const fromMs = period?.fromMs ?? record.wallMs
    if (fromMs > this.#atMs) {
      this.#beginMs = Math.min(this.#beginMs ?? Infinity, fromMs)
    } else if (endMs <= this.#atMs && endMs >= (this.#end?.ms ?? -Infinity)) {
      const lost = after === undefined ? following?.head.lost : undefined
      const why =
        record.kind === RecordKind.Stop ? 'stopped' : lost === undefined ? 'unknown' : 'lost'
      this.#end = { ms: endMs, why, reason: lost ?? '' }
    }
  }

  /** The segment began with an active bundle: since when it was, an older one tells. */
  #lookForBeginning(records: readonly JournalRecord[]): boolean {
    const found = this.#found!
    let last: { readonly head: GenerationHead; readonly atMs: number } | undefined
    for (const record of records) {
      const generation = generationOf(record)
      if (generation !== undefined) last = { head: generation.head, atMs: record.wallMs }
    }
    if (last === undefined || last.head.digest !== found.generation.digest) return true
    if (last.head.isContinued) return false
    this.#found = { ...found, sinceMs: last.atMs }
    return true
  }
}

/** The state of a segment during a walk through its records. */
class SegmentWalk {
  readonly #head: SegmentHead
  readonly #atMs: number
  #generation: { head: GenerationHead; state: Buffer; fromMs: number } | undefined
  #before: GenerationHead | null = null
  #isSettled = false
  #changes: JournalRecord[] = []
  #tables: Readonly<Record<string, unknown>> = {}

  constructor(head: SegmentHead, atMs: number) {
    this.#head = head
    this.#atMs = atMs
  }

  take(record: JournalRecord): void {
    const generation = generationOf(record)
    if (generation !== undefined) {
      this.#before = this.#generation?.head ?? null
      this.#generation = { ...generation, fromMs: record.wallMs }
      this.#isSettled = generation.head.isContinued
      this.#changes = []
    }
    if (record.kind === RecordKind.Settled) this.#isSettled = true
    if (record.kind === RecordKind.Tables) this.#tables = jsonOf(record.payload) ?? {}
    if (record.kind === RecordKind.Changes) this.#changes.push(record)
  }

  /** The moment in the period of the last record. */
  moment(record: JournalRecord, isRepeated: boolean): Moment | undefined {
    const generation = this.#generation
    if (generation === undefined) return undefined
    const monotonicMs = record.monotonicMs + this.#atMs - record.wallMs
    const changes = until(this.#changes, monotonicMs)
    const { head, state, fromMs } = generation
    return {
      kind: 'moment',
      atMs: this.#atMs,
      segment: this.#head,
      generation: head,
      before: this.#isSettled ? null : this.#before,
      sinceMs: head.isContinued ? null : fromMs,
      ...{ state, changes, tables: this.#tables, isRepeated },
    }
  }
}

/** Each period ends where the next begins, the last one at the instant. */
function until(records: readonly JournalRecord[], atMonotonicMs: number): readonly ChangesUntil[] {
  return records.map(({ payload, monotonicMs }, i) => {
    const isLast = i === records.length - 1
    return { payload, untilMs: isLast ? atMonotonicMs - monotonicMs : Infinity }
  })
}

/** Follows the wall clock while it drifts; after a jump the monotonic clock counts. */
function periodOf(record: JournalRecord, after: JournalRecord): Period {
  const fromMs = record.wallMs
  const toMs = fromMs + Math.max(0, after.monotonicMs - record.monotonicMs)
  return { fromMs, toMs: Math.abs(after.wallMs - toMs) <= creepMs ? after.wallMs : toMs }
}

/** No record follows the last one: its state held for as long as a node may be silent. */
function lastPeriod(
  record: JournalRecord,
  isCut: boolean,
  following: Following | undefined,
  lengthMs: number,
): Period {
  const fromMs = record.wallMs
  if (following?.head.why === 'rotated' && !isCut) {
    const { monotonicMs, wallMs } = following
    return periodOf(record, { ...record, monotonicMs, wallMs })
  }
  if (isCut || following !== undefined) return { fromMs, toMs: fromMs + lengthMs + 1 }
  const { aliveMs, flushMs } = journalLimits
  return { fromMs, toMs: fromMs + lengthMs + aliveMs + 2 * flushMs }
}

/** From the beginning of the last record to the last change, which may be in an earlier one. */
function lastEntryMs(records: readonly JournalRecord[]): number {
  const last = records.at(-1)!
  const changes = records.findLast(({ kind }) => kind === RecordKind.Changes)
  if (changes === undefined) return 0
  let lengthMs = changes.monotonicMs - last.monotonicMs
  for (const entry of readEntries(new OctetReader(changes.payload))) {
    if (entry.kind === 'time') lengthMs += entry.ms
  }
  return Math.max(0, lengthMs)
}

const creepMs = 2_000
