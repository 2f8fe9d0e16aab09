// A part of a segment that travels: whole records, checked before anybody keeps them.
import { err, ok } from '#lib/result.ts'
import type { Result } from '#lib/result.ts'
import type { Journals, SegmentName } from '#state/ports/journals.ts'
import type { StoreCall } from '#state/ports/store-result.ts'
import { generationOf, magic, readRecordsFrom, segmentHead } from '#journal/format/records.ts'
import type { JournalRecord, SegmentHead } from '#journal/format/records.ts'

export interface CopiedPart extends SegmentName {
  /** Where in the segment it begins. */
  readonly at: number
  /** Empty: a question how much of the segment is there. */
  readonly octets: Buffer
}

export interface PartFacts {
  /** The earliest and the latest time of a record, by the clock of the node that wrote it. */
  readonly fromMs: number
  readonly toMs: number
  /** A bundle begins to answer in it. */
  readonly hasSwap: boolean
}

/** Errors: a sentence. */
export function readPart({ node, run, at, octets }: CopiedPart): Result<PartFacts, string> {
  if (at === 0 && !octets.subarray(0, magic.length).equals(magic)) {
    return err('the octets are not the beginning of a segment of a journal')
  }
  const { records, lostBytes } = readRecordsFrom(octets, at === 0 ? magic.length : 0)
  const [first] = records
  if (first === undefined || lostBytes > 0) {
    return err('the octets are not whole records: they were cut, or damaged')
  }
  if (at === 0) {
    const head = segmentHead(first)
    const fault = head === undefined ? 'the first record is none of a segment' : other(head)
    if (fault !== undefined) return err(fault)
  }
  return ok(factsOf(records))

  function other(head: SegmentHead): string | undefined {
    if (head.node !== node) return `the journal is one of the node "${printable(head.node)}"`
    return head.run === run ? undefined : 'the segment is one of another process'
  }
}

/** Cleans a text that comes from another machine and goes into logs and answers. */
const printable = (text: unknown): string =>
  String(text)
    .slice(0, 63)
    .replace(/[^\x20-\x7e]/g, '?')

function factsOf(records: readonly JournalRecord[]): PartFacts {
  let [fromMs, toMs, hasSwap] = [Infinity, -Infinity, false]
  for (const record of records) {
    fromMs = Math.min(fromMs, Math.floor(record.wallMs))
    toMs = Math.max(toMs, Math.ceil(record.wallMs))
    if (generationOf(record)?.head.isContinued === false) hasSwap = true
  }
  return { fromMs: inRange(fromMs), toMs: inRange(toMs), hasSwap }
}

/** A clock may say anything; a column takes what is a time. */
const inRange = (ms: number): number => Math.min(Math.max(ms, -timeMax), timeMax)
const timeMax = 8.64e15

/**
 * @param nowMs Unix epoch
 * @returns octets of the segment that are there now. Errors: a sentence about the octets; a failure
 *   of the store is its own
 */
export async function storePart(
  journals: Pick<Journals, 'append'>,
  part: CopiedPart,
  nowMs: number,
): Promise<Result<Awaited<StoreCall<number>>, string>> {
  const isQuestion = part.octets.length === 0
  const facts = isQuestion ? ok({ fromMs: 0, toMs: 0, hasSwap: false }) : readPart(part)
  if (!facts.ok) return facts
  const storedMs = Math.floor(nowMs)
  return ok(await journals.append({ ...part, ...facts.value, storedMs }))
}
