// Hits of response rules in the table `response_hits`; the database adds them up.
import { sql } from 'kysely'
import { assert } from '#lib/assert.ts'
import { responseHitLimits } from '../ports/response-hits.ts'
import type { ResponseHitBatch, ResponseHits } from '../ports/response-hits.ts'
import { slices } from './database/limits.ts'
import type { Sql } from './database/sql.ts'
import type { Db } from './database/tables.ts'

export function createSqlResponseHits(database: Sql): ResponseHits {
  return {
    add: (batch) => {
      assert(batch.hits.size <= responseHitLimits.rulesPerBatchMax, 'a batch of hits is bounded')
      return database.repeatable((db) =>
        db.transaction().execute((transaction) => addOnce(transaction, batch)),
      )
    },
    forget: (uids) =>
      database.repeatable(async (db) => {
        for (const some of slices(uids)) {
          await db.deleteFrom('response_hits').where('rule_uid', 'in', some).execute()
        }
      }),
    totals: () =>
      database.repeatable(async (db) => {
        const rows = await db.selectFrom('response_hits').select(['rule_uid', 'hits']).execute()
        return new Map(rows.map(({ rule_uid, hits }) => [rule_uid, hits]))
      }),
  }
}

async function addOnce(db: Db, { id, nowMs, hits }: ResponseHitBatch): Promise<void> {
  const { numInsertedOrUpdatedRows } = await db
    .insertInto('response_hit_batches')
    .values({ id, at_ms: nowMs })
    .onConflict((conflict) => conflict.column('id').doNothing())
    .executeTakeFirst()
  if (numInsertedOrUpdatedRows === 0n) return
  // In the same order on all nodes, to prevent deadlocks.
  const rows = [...hits]
    .map(([rule_uid, count]) => ({ rule_uid, hits: count, at_ms: nowMs }))
    .toSorted((a, b) => (a.rule_uid < b.rule_uid ? -1 : 1))
  for (const some of slices(rows)) {
    await db
      .insertInto('response_hits')
      .values(some)
      .onConflict((conflict) =>
        conflict.column('rule_uid').doUpdateSet({
          hits: sql<number>`response_hits.hits + excluded.hits`,
          at_ms: sql<number>`excluded.at_ms`,
        }),
      )
      .execute()
  }
  const { batchKeptMs, countKeptMs } = responseHitLimits
  await db
    .deleteFrom('response_hit_batches')
    .where('at_ms', '<', nowMs - batchKeptMs)
    .execute()
  await db
    .deleteFrom('response_hits')
    .where('at_ms', '<', nowMs - countKeptMs)
    .execute()
}
