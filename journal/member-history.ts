// Reads from a journal in which periods members were up, down or taken out.
import { journalLimits } from '#journal/format/limits.ts'
import { readEntries } from '#journal/format/changes.ts'
import type { MemberChange } from '#journal/format/changes.ts'
import { OctetReader } from '#journal/format/octets.ts'
import { generationOf, readRecords, RecordKind, segmentHead } from '#journal/format/records.ts'
import type { GenerationHead, JournalRecord, SegmentHead } from '#journal/format/records.ts'
import type { Segments } from './moment.ts'
import { MemberOut } from '#routing/state/state.ts'
import { StretchLine } from './stretches.ts'
import type { MemberStanding, Stretch } from './stretches.ts'

export interface HistoryRange {
  readonly fromMs: number
  readonly toMs: number
}

/** The rows of a bundle that belong to the requested members. */
export interface MemberRow {
  readonly row: number
  /** Index in the list of requested members. */
  readonly place: number
  readonly isEnabled: boolean
  /** True: the node probes it. */
  readonly isProbed: boolean
  /** True: it has a host name, and no address until that is resolved. */
  readonly isResolved: boolean
}

export interface PastSegment {
  readonly head: SegmentHead
  readonly records: readonly JournalRecord[]
  /** True: records after these are missing. */
  readonly isCut: boolean
}

/** Segments in order; the last one before the range tells how it begins. */
export function segmentsFrom(segments: Segments, { fromMs }: HistoryRange): readonly PastSegment[] {
  const found: PastSegment[] = []
  let bytes = 0
  let isFollowed = true
  for (const file of segments) {
    bytes += file.length
    if (bytes > historyBytesMax && found.length > 0) break
    const { records, lostBytes } = readRecords(file)
    const [first] = records
    const head = first === undefined ? undefined : segmentHead(first)
    if (first === undefined || head === undefined) {
      // The records after the segment before are missing.
      isFollowed = found.length === 0
      continue
    }
    found.push({ head, records, isCut: lostBytes > 0 || !isFollowed })
    isFollowed = true
    if (first.wallMs <= fromMs) break
  }
  return found.toReversed()
}

/** Octets of all files that are read; older ones count as unknown. */
const historyBytesMax = 96 * 1_048_576

/** Equal for generations with the same rows. */
export const rowsKey = ({ members, digest }: GenerationHead): string => members ?? digest

/** Returns the generations, newest first, without duplicates. */
export function generationsIn(segments: readonly PastSegment[]): readonly GenerationHead[] {
  const found = new Map<string, GenerationHead>()
  for (const { records } of segments.toReversed()) {
    for (const record of records.toReversed()) {
      const head = generationOf(record)?.head
      if (head !== undefined && !found.has(rowsKey(head))) found.set(rowsKey(head), head)
    }
  }
  return [...found.values()]
}

/** By `rowsKey`. null: the bundle is gone; absent: it was not looked for yet. */
export type RowsOf = ReadonlyMap<string, readonly MemberRow[] | null>

/** @returns for each member periods that fill the range */
export function historyOf(
  segments: readonly PastSegment[],
  rowsOf: RowsOf,
  places: number,
  range: HistoryRange,
): readonly (readonly Stretch[])[] {
  const walk = new HistoryWalk(rowsOf, places, range)
  let before: PastSegment | undefined
  for (const segment of segments) {
    const { head, isCut } = segment
    const follows = before?.head.run === head.run && head.why === 'rotated' && !before.isCut
    const silentMs = segment.records[0]!.wallMs - (before?.records.at(-1)!.wallMs ?? 0)
    if (!follows || silentMs > quietMs)
      walk.gap(gapReason(before, segment), segment.records[0]!.wallMs)
    walk.take(segment, isCut)
    before = segment
  }
  return walk.end()
}

/** The longest silence of a node that is up. */
const quietMs = 2 * (journalLimits.aliveMs + journalLimits.flushMs)
const notKept = 'the configuration of then is not kept'
const tooManyBefore = 'the members of the pools have changed too often since to look so far back'
const silent = 'the journal of the node says nothing of this time'

function gapReason(before: PastSegment | undefined, { head }: PastSegment): string {
  if (before === undefined) return 'the journal of the node begins later'
  if (before.records.at(-1)?.kind === RecordKind.Stop) return 'the node was stopped'
  // Without the system's message, since tenants read it; the log has it.
  return head.lost === undefined
    ? 'the node was down, or its journal was cut'
    : 'the journal could not be written'
}

interface RowState extends MemberRow {
  healthy: number
  out: number
}

class HistoryWalk {
  readonly #rowsOf: RowsOf
  readonly #range: HistoryRange
  readonly #lines: readonly StretchLine[]
  /** Rows of the active generation; each member may have several. */
  #rows = new Map<number, RowState>()
  #rowsAt: readonly (readonly RowState[])[] = []
  /** Why it is unknown which rows belong to which member; '': it is known. */
  #unknown = ''
  /** Up to here the records hold. */
  #endMs: number
  #isStopped = true

  constructor(rowsOf: RowsOf, places: number, range: HistoryRange) {
    this.#rowsOf = rowsOf
    this.#range = range
    this.#endMs = range.fromMs
    this.#lines = Array.from({ length: places }, () => new StretchLine(range))
  }

  gap(reason: string, untilMs: number): void {
    for (const line of this.#lines) line.turn(Math.min(this.#endMs, untilMs), 'unknown', reason)
  }

  take({ records }: PastSegment, isCut: boolean): void {
    for (const record of records) {
      const { kind, wallMs } = record
      this.#endMs = wallMs
      const generation = generationOf(record)
      if (generation !== undefined) this.#begin(generation.head, generation.state, wallMs)
      if (kind === RecordKind.Changes) this.#change(record.payload, wallMs)
    }
    this.#isStopped = isCut || records.at(-1)?.kind === RecordKind.Stop
  }

  end(): readonly (readonly Stretch[])[] {
    const { toMs } = this.#range
    if (this.#isStopped || toMs - this.#endMs > quietMs) this.gap(silent, toMs)
    return this.#lines.map((line) => line.stretches())
  }

  #begin(head: GenerationHead, state: Buffer, atMs: number): void {
    const rows = this.#rowsOf.get(rowsKey(head))
    this.#unknown = rows === undefined ? tooManyBefore : rows === null ? notKept : ''
    this.#rows = new Map(
      rows?.map((one) => {
        const out = one.isResolved ? MemberOut.Unresolved : 0
        return [one.row, { ...one, healthy: 1, out }]
      }),
    )
    this.#rowsAt = this.#lines.map((_, at) =>
      [...this.#rows.values()].filter(({ place }) => place === at),
    )
    for (const entry of readEntries(new OctetReader(state))) {
      if (entry.kind === 'member') this.#set(entry.member, entry.change)
    }
    for (let place = 0; place < this.#lines.length; place++) this.#show(place, atMs)
  }

  #change(payload: Buffer, fromMs: number): void {
    let atMs = fromMs
    for (const entry of readEntries(new OctetReader(payload))) {
      if (entry.kind === 'time') atMs += entry.ms
      if (entry.kind !== 'member') continue
      const place = this.#set(entry.member, entry.change)
      if (place !== undefined) this.#show(place, atMs)
    }
    this.#endMs = atMs
  }

  /** @returns the member of the row; undefined: none that was requested */
  #set(row: number, { healthy, out }: MemberChange): number | undefined {
    const state = this.#rows.get(row)
    if (state === undefined) return undefined
    if (healthy !== undefined) state.healthy = healthy
    if (out !== undefined) state.out = out
    return state.place
  }

  #show(place: number, atMs: number): void {
    const line = this.#lines[place]!
    if (this.#unknown !== '') return line.turn(atMs, 'unknown', this.#unknown)
    const standings = this.#rowsAt[place]!.map(standingOf)
    if (standings.length === 0) return line.turn(atMs, 'absent')
    // A single healthy address of a host name is enough.
    line.turn(
      atMs,
      order.find((one) => standings.includes(one))!,
    )
  }
}

const order: readonly MemberStanding[] = [
  'up',
  'unprobed',
  'warming',
  'down',
  'unresolved',
  'maintenance',
  'disabled',
]

function standingOf({ isEnabled, isProbed, healthy, out }: RowState): MemberStanding {
  if (!isEnabled) return 'disabled'
  if ((out & MemberOut.Maintenance) !== 0) return 'maintenance'
  if ((out & MemberOut.Unresolved) !== 0) return 'unresolved'
  if (healthy === 0) return 'down'
  if ((out & MemberOut.Warming) !== 0) return 'warming'
  return isProbed ? 'up' : 'unprobed'
}
