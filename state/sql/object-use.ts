// Keeps the use of objects in the tables `object_uses`, `node_uses` and `member_changes`.
import { sql } from 'kysely'
import { useLimits } from '../ports/object-use.ts'
import type { ObjectUses, UseRecord, UseReport } from '../ports/object-use.ts'
import { slices } from './database/limits.ts'
import type { Sql } from './database/sql.ts'
import type { Db } from './database/tables.ts'

const dayMs = 24 * 3_600_000

export function createSqlObjectUses(database: Sql): ObjectUses {
  return {
    report: (report) =>
      database.repeatable((db) =>
        db.transaction().execute((transaction) => write(transaction, report)),
      ),
    keys: () =>
      database.repeatable(async (db) => {
        const rows = await db.selectFrom('object_uses').select('object_key').execute()
        return rows.map(({ object_key }) => object_key)
      }),
    read: (fromMs) => database.repeatable((db) => read(db, fromMs)),
  }
}

async function write(db: Db, report: UseReport): Promise<void> {
  const { nowMs, used, seen, gone } = report
  for (const some of slices(gone.toSorted())) {
    await db.deleteFrom('object_uses').where('object_key', 'in', some).execute()
  }
  // In the same order on all nodes, to prevent deadlocks.
  for (const some of slices(seen.toSorted())) {
    await db
      .insertInto('object_uses')
      .values(some.map((object_key) => ({ object_key, seen_ms: nowMs, used_ms: null })))
      .onConflict((conflict) => conflict.column('object_key').doNothing())
      .execute()
  }
  for (const some of slices(used.toSorted())) {
    await db
      .insertInto('object_uses')
      .values(some.map((object_key) => ({ object_key, seen_ms: nowMs, used_ms: nowMs })))
      .onConflict((conflict) =>
        conflict.column('object_key').doUpdateSet({ used_ms: sql<number>`excluded.used_ms` }),
      )
      .execute()
  }
  await addChanges(db, report)
  await noteNode(db, report)
}

async function addChanges(db: Db, { node, nowMs, changes }: UseReport): Promise<void> {
  const day = Math.floor(nowMs / dayMs)
  for (const some of slices([...changes].toSorted(([a], [b]) => (a < b ? -1 : 1)))) {
    await db
      .insertInto('member_changes')
      .values(some.map(([member_uid, count]) => ({ node, member_uid, day, changes: count })))
      .onConflict((conflict) =>
        conflict.columns(['node', 'member_uid', 'day']).doUpdateSet({
          changes: sql<number>`member_changes.changes + excluded.changes`,
        }),
      )
      .execute()
  }
  await db
    .deleteFrom('member_changes')
    .where('day', '<', day - useLimits.changesKeptDays)
    .execute()
}

/** A node that was silent without a stop may have unreported answers: its record starts anew. */
async function noteNode(db: Db, { node, nowMs, isLast }: UseReport): Promise<void> {
  const gapMs = useLimits.silentMsMax
  await db
    .insertInto('node_uses')
    .values({ node, since_ms: nowMs, until_ms: nowMs, is_stopped: isLast })
    .onConflict((conflict) =>
      conflict.column('node').doUpdateSet({
        since_ms: sql<number>`case
          when node_uses.is_stopped or node_uses.until_ms >= excluded.until_ms - ${sql.lit(gapMs)}
          then node_uses.since_ms else excluded.since_ms end`,
        until_ms: sql<number>`excluded.until_ms`,
        is_stopped: sql<boolean>`excluded.is_stopped`,
      }),
    )
    .execute()
  await db
    .deleteFrom('node_uses')
    .where('until_ms', '<', nowMs - useLimits.keptMs)
    .execute()
}

async function read(db: Db, fromMs: number): Promise<UseRecord> {
  const nodes = await db.selectFrom('node_uses').selectAll().orderBy('node').execute()
  const objects = await db.selectFrom('object_uses').selectAll().execute()
  const byNode = db
    .selectFrom('member_changes')
    .select((from) => ['node', 'member_uid', from.fn.sum<number>('changes').as('changes')])
    .where('day', '>=', Math.floor(fromMs / dayMs))
    .groupBy(['node', 'member_uid'])
  const changes = new Map<string, number>()
  for (const row of await byNode.execute()) {
    const before = changes.get(row.member_uid) ?? 0
    changes.set(row.member_uid, Math.max(before, Number(row.changes)))
  }
  return {
    nodes: nodes.map(({ node, since_ms, until_ms, is_stopped }) => ({
      ...{ node, sinceMs: since_ms, untilMs: until_ms, isStopped: is_stopped },
    })),
    objects: new Map(
      objects.map(({ object_key, seen_ms, used_ms }) => [
        object_key,
        { seenMs: seen_ms, usedMs: used_ms },
      ]),
    ),
    changes,
  }
}
