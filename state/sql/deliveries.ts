// Keeps the shared state of deliveries in the table `deliveries`.
import type { Deliveries } from '../ports/deliveries.ts'
import type { Sql } from './database/sql.ts'

export function createSqlDeliveries(database: Sql): Deliveries {
  return {
    read: (channel) =>
      database.repeatable(async (db) => {
        const row = await db
          .selectFrom('deliveries')
          .select(['revision', 'decider', 'state'])
          .where('channel', '=', channel)
          .executeTakeFirst()
        return row === undefined ? null : { ...row, revision: Number(row.revision) }
      }),
    // Only one of two nodes that have seen the same revision changes a row.
    replace: (channel, seen, { decider, state }) =>
      database.once(async (db) => {
        const values = { decider, state, revision: seen + 1 }
        const changed = await (seen === 0
          ? db
              .insertInto('deliveries')
              .values({ channel, ...values })
              .onConflict((conflict) => conflict.column('channel').doNothing())
              .returning('channel')
              .executeTakeFirst()
          : db
              .updateTable('deliveries')
              .set(values)
              .where('channel', '=', channel)
              .where('revision', '=', seen)
              .returning('channel')
              .executeTakeFirst())
        return changed !== undefined
      }),
  }
}
