// Copies of journals, in the tables `journal_segments` and `journal_parts`.
import { sql } from 'kysely'
import { assert } from '#lib/assert.ts'
import { journalCopyLimits } from '../ports/journals.ts'
import type {
  JournalNode,
  Journals,
  KeptJournals,
  SegmentName,
  SegmentPart,
  StoredSegment,
} from '../ports/journals.ts'
import type { Sql } from './database/sql.ts'
import type { Db } from './database/tables.ts'

const { partBytesMax, segmentBytesMax, segmentsMax, segmentsKept, nodesMax } = journalCopyLimits
/** A row takes parts up to this size, so that rows are few and short. */
const rowBytesMax = 16_384
/** Rows removed by one statement. */
const removedMax = 500

export function createSqlJournals(database: Sql): Journals {
  return {
    append: (part) =>
      database.repeatable((db) => {
        assert(part.octets.length <= partBytesMax, 'a part of a journal is bounded')
        return db.transaction().execute((transaction) => append(transaction, part))
      }),
    segmentsOf: (node) =>
      database.repeatable(async (db) => {
        const rows = await db
          .selectFrom('journal_segments')
          .selectAll()
          .where('node', '=', node)
          .orderBy('to_ms', 'desc')
          .limit(segmentsMax)
          .execute()
        return inOrder(rows.map(segmentOf))
      }),
    octetsOf: (segment) =>
      database.repeatable(async (db) => {
        const bytes = await bytesOf(db, segment)
        const parts = await partRows(db, segment)
          .select(['at_byte', 'octets'])
          .orderBy('at_byte')
          .execute()
        return joined(parts, bytes)
      }),
    nodes: () =>
      database.repeatable(async (db) => {
        const rows = await db
          .selectFrom('journal_segments')
          .select(({ fn }) => [
            'node',
            fn.min('from_ms').as('from_ms'),
            fn.max('to_ms').as('to_ms'),
            fn.sum('bytes').as('bytes'),
          ])
          .groupBy('node')
          .orderBy('node')
          .limit(nodesMax)
          .execute()
        return rows.map(nodeOf)
      }),
    prune: (kept) => database.once((db) => prune(db, kept)),
  }
}

/**
 * Locks the row of the segment: of two writers of the same part, the second learns that it is
 * there.
 */
async function append(db: Db, part: SegmentPart): Promise<number> {
  const known = await segmentRow(db, part).select('bytes').forUpdate().executeTakeFirst()
  const bytes = Number(known?.bytes ?? 0)
  const { at, octets } = part
  if (at !== bytes || octets.length === 0 || at + octets.length > segmentBytesMax) return bytes
  if (known === undefined && !(await makeSegment(db, part))) return await bytesOf(db, part)
  await db
    .updateTable('journal_segments')
    .set({
      bytes: at + octets.length,
      from_ms: sql<number>`least(from_ms, ${part.fromMs})`,
      to_ms: sql<number>`greatest(to_ms, ${part.toMs})`,
      stored_ms: part.storedMs,
      ...(part.hasSwap ? { has_swap: true } : {}),
    })
    .where(isOf(part))
    .execute()
  await addOctets(db, part)
  return at + octets.length
}

async function bytesOf(db: Db, segment: SegmentName): Promise<number> {
  const row = await segmentRow(db, segment).select('bytes').executeTakeFirst()
  return Number(row?.bytes ?? 0)
}

/** @returns false: it was just made by another call, or there are too many */
async function makeSegment(db: Db, part: SegmentPart): Promise<boolean> {
  const { node, run, number, fromMs, toMs, hasSwap, storedMs } = part
  const counted = await db
    .selectFrom('journal_segments')
    .select(({ fn }) => fn.countAll().as('rows'))
    .where('node', '=', node)
    .executeTakeFirstOrThrow()
  if (Number(counted.rows) >= segmentsMax) return false
  if (Number(counted.rows) === 0 && (await countNodes(db)) >= nodesMax) return false
  const made = await db
    .insertInto('journal_segments')
    .values({
      ...{ node, run, number, bytes: 0, from_ms: fromMs, to_ms: toMs },
      ...{ has_swap: hasSwap, stored_ms: storedMs },
    })
    .onConflict((conflict) => conflict.columns(['node', 'run', 'number']).doNothing())
    .returning('node')
    .executeTakeFirst()
  return made !== undefined
}

async function countNodes(db: Db): Promise<number> {
  const { nodes } = await db
    .selectFrom('journal_segments')
    .select(({ fn }) => fn.count('node').distinct().as('nodes'))
    .executeTakeFirstOrThrow()
  return Number(nodes)
}

async function addOctets(db: Db, part: SegmentPart): Promise<void> {
  const { node, run, number, at, octets } = part
  const last = await partRows(db, part)
    .select(['at_byte', sql<number>`length(octets)`.as('length')])
    .orderBy('at_byte', 'desc')
    .executeTakeFirst()
  const isRoom = last !== undefined && last.length + octets.length <= rowBytesMax
  if (!isRoom) {
    await db
      .insertInto('journal_parts')
      .values({ node, run, number, at_byte: at, octets })
      .execute()
    return
  }
  await db
    .updateTable('journal_parts')
    .set({ octets: sql<Uint8Array>`octets || ${octets}::bytea` })
    .where(isOf(part))
    .where('at_byte', '=', last.at_byte)
    .execute()
}

async function prune(db: Db, { sinceMs, nodeBytesMax, bytesMax }: KeptJournals): Promise<number> {
  const old = await db
    .deleteFrom('journal_segments')
    .where('stored_ms', '<', sinceMs)
    .executeTakeFirst()
  const ofNode = { bytesMax: nodeBytesMax, segmentsMax: segmentsKept }
  const ofNodes = await removeBeyond(db, ofNode, sql`partition by node`)
  const ofAll = await removeBeyond(db, { bytesMax, segmentsMax: segmentsKept * nodesMax }, sql``)
  return Number(old.numDeletedRows) + ofNodes + ofAll
}

/** Removes the oldest segments beyond a limit; the newest one of each group stays. */
async function removeBeyond(
  db: Db,
  most: { readonly bytesMax: number; readonly segmentsMax: number },
  group: ReturnType<typeof sql>,
): Promise<number> {
  let removed = 0
  for (;;) {
    const { numAffectedRows = 0n } = await sql`
      delete from journal_segments where (node, run, number) in (
        select node, run, number from (
          select node, run, number,
            sum(bytes) over (${group} order by to_ms desc, number desc, node, run) as upto,
            row_number() over (${group} order by to_ms desc, number desc, node, run) as place
          from journal_segments
        ) as ordered
        where (upto > ${most.bytesMax} or place > ${most.segmentsMax}) and place > 1
        limit ${removedMax}
      )`.execute(db)
    removed += Number(numAffectedRows)
    if (numAffectedRows < removedMax) return removed
  }
}

const isOf = ({ node, run, number }: SegmentName) =>
  sql<boolean>`(node, run, number) = (${node}, ${run}, ${number})`

const segmentRow = (db: Db, segment: SegmentName) =>
  db.selectFrom('journal_segments').where(isOf(segment))

const partRows = (db: Db, segment: SegmentName) =>
  db.selectFrom('journal_parts').where(isOf(segment))

interface SegmentRow {
  readonly run: string
  readonly number: number
  readonly bytes: number
  readonly from_ms: number
  readonly to_ms: number
  readonly has_swap: boolean
}

const segmentOf = (row: SegmentRow): StoredSegment => ({
  ...{ run: row.run, number: Number(row.number), bytes: Number(row.bytes) },
  ...{ fromMs: Number(row.from_ms), toMs: Number(row.to_ms), hasSwap: row.has_swap },
})

interface NodeRow {
  readonly node: string
  readonly from_ms: number
  readonly to_ms: number
  readonly bytes: unknown
}

const nodeOf = (row: NodeRow): JournalNode => ({
  ...{ node: row.node, fromMs: Number(row.from_ms), toMs: Number(row.to_ms) },
  bytes: Number(row.bytes),
})

/** @param segments sorted by their newest record */
function inOrder(segments: readonly StoredSegment[]): readonly StoredSegment[] {
  const byRun = Map.groupBy(segments, ({ run }) => run)
  return [...byRun.values()].flatMap((own) => own.toSorted((a, b) => b.number - a.number))
}

/** Ignores a part that was added between two statements. */
function joined(
  parts: readonly { readonly at_byte: number; readonly octets: Uint8Array }[],
  bytes: number,
): Uint8Array {
  const all = Buffer.concat(parts.map(({ octets }) => octets))
  return all.subarray(0, bytes)
}
