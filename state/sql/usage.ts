// Usage in the table `usage_hours`; the database adds it up.
import { sql } from 'kysely'
import { assert } from '#lib/assert.ts'
import { err } from '#lib/result.ts'
import { byCodeUnits } from '#lib/sequence/order.ts'
import type { StoreCall } from '../ports/store-result.ts'
import { usageLimits } from '../ports/usage.ts'
import type { Usage, UsageBatch, UsageRecord } from '../ports/usage.ts'
import { slices } from './database/limits.ts'
import type { Sql } from './database/sql.ts'
import type { Db } from './database/tables.ts'

export function createSqlUsage(database: Sql): Usage {
  return {
    add: (batch) => {
      const { records } = batch
      assert(records.length <= usageLimits.recordsPerBatchMax, 'a batch of usage is bounded')
      return database.repeatable((db) =>
        db.transaction().execute((transaction) => addOnce(transaction, batch)),
      )
    },
    range: async (tenantId, from, to): StoreCall<readonly UsageRecord[], 'range-too-wide'> => {
      const found = await database.repeatable(async (db) => {
        const rows = await db
          .selectFrom('usage_hours')
          .selectAll()
          .where('tenant_id', '=', tenantId)
          .where('period', '>=', from)
          .where('period', '<=', to)
          .orderBy('period')
          .limit(usageLimits.rangeRecordsMax + 1)
          .execute()
        return rows.map(({ period, dns_queries, api_calls }) => ({
          tenantId,
          period,
          dnsQueries: dns_queries,
          apiCalls: api_calls,
        }))
      })
      if (!found.ok || found.value.length <= usageLimits.rangeRecordsMax) return found
      const message = `More than ${usageLimits.rangeRecordsMax} hours; ask for a part of them.`
      return err({ code: 'range-too-wide', message })
    },
  }
}

async function addOnce(db: Db, { id, nowMs, records }: UsageBatch): Promise<void> {
  const { numInsertedOrUpdatedRows } = await db
    .insertInto('usage_batches')
    .values({ id, at_ms: nowMs })
    .onConflict((conflict) => conflict.column('id').doNothing())
    .executeTakeFirst()
  if (numInsertedOrUpdatedRows === 0n) return
  for (const some of slices([...summed(records).values()])) {
    await db
      .insertInto('usage_hours')
      .values(some)
      .onConflict((conflict) =>
        conflict.columns(['tenant_id', 'period']).doUpdateSet({
          dns_queries: sql<number>`usage_hours.dns_queries + excluded.dns_queries`,
          api_calls: sql<number>`usage_hours.api_calls + excluded.api_calls`,
        }),
      )
      .execute()
  }
  const oldestMs = nowMs - usageLimits.batchKeptMs
  await db.deleteFrom('usage_batches').where('at_ms', '<', oldestMs).execute()
}

/** One row for each tenant and hour, in the same order on all nodes, to prevent deadlocks. */
function summed(records: readonly UsageRecord[]) {
  const byHour = new Map<string, ReturnType<typeof rowOf>>()
  const ordered = records.toSorted((a, b) => byCodeUnits(keyOf(a), keyOf(b)))
  for (const record of ordered) {
    const row = byHour.get(keyOf(record)) ?? rowOf(record)
    row.dns_queries += record.dnsQueries
    row.api_calls += record.apiCalls
    byHour.set(keyOf(record), row)
  }
  return byHour
}

const keyOf = ({ tenantId, period }: UsageRecord): string => `${period} ${tenantId}`
const rowOf = ({ tenantId, period }: UsageRecord) => ({
  tenant_id: tenantId,
  period,
  dns_queries: 0,
  api_calls: 0,
})
