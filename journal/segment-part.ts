// Checks a part of a copied segment, which has to consist of whole records, before it is stored.
import { err, ok } from '#lib/result.ts'
import type { Result } from '#lib/result.ts'
import type { Journals, SegmentName } from '#state/ports/journals.ts'
import type { StoreCall } from '#state/ports/store-result.ts'
import { generationOf, magic, readRecordsFrom, segmentHead } from '#journal/format/records.ts'
import type { JournalRecord, SegmentHead } from '#journal/format/records.ts'

export interface CopiedPart extends SegmentName {
  /** Offset in the segment. */
  readonly at: number
  /** Empty: asks how much of the segment is stored. */
  readonly octets: Buffer
}

interface PartFacts {
  /** Earliest and latest time of a record, by the clock of the writing node. */
  readonly fromMs: number
  readonly toMs: number
  /** True: a bundle becomes active in it. */
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

/** Replaces control characters: the text is another machine's, and goes into logs and answers. */
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

/** A clock may show anything; a column holds only valid times. */
const inRange = (ms: number): number => Math.min(Math.max(ms, -timeMax), timeMax)
const timeMax = 8.64e15

/**
 * @param nowMs Unix epoch
 *
 * @returns octets of the segment that are stored now. Errors: a sentence about the octets, or a
 * failure of the store
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
