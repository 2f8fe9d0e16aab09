// Finds an instant in a journal: which bundle answered then, from which state. A clock that was
// set, a cut file and a node that was down are told apart from silence.
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
  /** The bundle before, while not all threads had taken over this one; else null. */
  readonly before: GenerationHead | null
  /** From when on this bundle answered; null: the journal begins later. */
  readonly sinceMs: number | null
  /** The state that the segment began with; `changes` follow in their order. */
  readonly state: Buffer
  readonly changes: readonly ChangesUntil[]
  /** The databases that were loaded. */
  readonly tables: Readonly<Record<string, unknown>>
  /** The clock has shown this instant more than once: this is the last time. */
  readonly isRepeated: boolean
}

/** The journal says nothing of that instant. */
export interface Gap {
  readonly kind: 'gap'
  /** The journal speaks until `endMs` before the instant, and from `beginMs` after; null: never. */
  readonly endMs: number | null
  readonly beginMs: number | null
  /** `stopped`: the node was down; `lost`: it was up, and could not write; `unknown`: neither. */
  readonly why: 'empty' | 'stopped' | 'lost' | 'unknown'
  /** Why, where `why` is `lost`, or `empty` although there are files. */
  readonly reason: string
}

/** Where segments come from: the newest first; an empty one where some are missing. */
export type Segments = Iterable<Buffer>

/** A file that cannot be read, or is not there any more, is as one that is empty. */
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

/** Finds the last of several moments, where the clock has shown the instant more than once. */
export function findMoment(segments: Segments, atMs: number): Moment | Gap {
  const search = new Search(atMs)
  for (const file of segments) {
    if (search.look(file)) break
  }
  return search.result()
}

/** What a segment of the same process, written later, begins with. */
interface Following {
  readonly monotonicMs: number
  readonly wallMs: number
  readonly head: SegmentHead
}

interface Period {
  readonly fromMs: number
  /** Not included. */
  readonly toMs: number
}

class Search {
  readonly #atMs: number
  readonly #following = new Map<string, Following>()
  #found: Moment | undefined
  #isAny = false
  /** Ends and beginnings around the instant, with what they mean. */
  #end: { readonly ms: number; readonly why: Gap['why']; readonly reason: string } | undefined
  #beginMs: number | undefined

  constructor(atMs: number) {
    this.#atMs = atMs
  }

  /** @returns true when nothing older matters */
  look(file: Buffer): boolean {
    const { records, lostBytes } = readRecords(file)
    const [first] = records
    const head = first === undefined ? undefined : segmentHead(first)
    if (first === undefined || head === undefined) {
      // What follows the one before is not known.
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

  /** The segment of the instant began with a bundle that answered already: since when? */
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

/** What holds while the records of a segment go by. */
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

  /** At the instant, which is in the period of the record that was taken last. */
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

/** Each holds until the next begins, the last one until the instant. */
function until(records: readonly JournalRecord[], atMonotonicMs: number): readonly ChangesUntil[] {
  return records.map(({ payload, monotonicMs }, i) => {
    const isLast = i === records.length - 1
    return { payload, untilMs: isLast ? atMonotonicMs - monotonicMs : Infinity }
  })
}

/** The wall clock is followed where it only creeps; where it leaps, the monotonic one counts. */
function periodOf(record: JournalRecord, after: JournalRecord): Period {
  const fromMs = record.wallMs
  const toMs = fromMs + Math.max(0, after.monotonicMs - record.monotonicMs)
  return { fromMs, toMs: Math.abs(after.wallMs - toMs) <= creepMs ? after.wallMs : toMs }
}

/** No record says what followed the last one: it held as long as a node may be quiet. */
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

/** From the beginning of the last record to the last change, which may be in one before. */
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
