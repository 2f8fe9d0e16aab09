// Reads from the newest segment how much of a day's octets earlier processes have used.
import { journalLimits } from '#journal/format/limits.ts'
import { readRecords, recordBytes, segmentHead } from '#journal/format/records.ts'
import type { JournalRecord, SegmentHead } from '#journal/format/records.ts'
import { readBeginning, segmentFiles } from './segment-files.ts'
import { DayAllowance } from '#journal/sides/allowance.ts'

/** The newest segment that can be read. */
export interface SpentBefore {
  readonly head: SegmentHead
  /** All records of the segment; the first one holds the head. */
  readonly records: readonly JournalRecord[]
}

/** undefined: there is none. Only the beginning of a very long segment counts. */
export function spentBefore(directory: string): SpentBefore | undefined {
  const files = segmentFiles(directory).slice(-journalLimits.spentFilesRead).toReversed()
  for (const { path } of files) {
    const { records } = readRecords(readBeginning(path, journalLimits.spentBytesRead))
    const [first] = records
    const head = first === undefined ? undefined : segmentHead(first)
    if (head !== undefined) return { head, records }
  }
  return undefined
}

/** The part that a kind of records is. */
export interface SpendingPart {
  readonly name: string
  readonly kind: number
  readonly perDay: number
}

/**
 * What was there when the segment began, less what it has, and with what came since. A segment
 * that does not say what was there began with the octets of a day.
 *
 * @param nowMs Unix epoch; a clock that was set back gives nothing
 */
export function leftSince(
  { head, records }: SpentBefore,
  { name, kind, perDay }: SpendingPart,
  nowMs: number,
): number {
  const then = head.left?.[name]
  const left = typeof then === 'number' ? Math.min(then, perDay) : perDay
  let atMs = records[0]!.monotonicMs
  const day = new DayAllowance(perDay, () => atMs, left)
  for (const record of records) {
    if (record.kind !== kind) continue
    atMs = Math.max(atMs, record.monotonicMs)
    day.spend(record.payload.length + recordBytes)
  }
  const last = records.at(-1)!
  atMs = Math.max(atMs, last.monotonicMs) + Math.max(0, nowMs - last.wallMs)
  return day.left
}
