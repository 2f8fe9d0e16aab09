// Keeps the shared state of deliveries in the table `deliveries`.
import type { Deliveries } from '../ports/deliveries.ts'
import type { Sql } from './database/sql.ts'
import { replaceRow } from './replace-row.ts'

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
    replace: (channel, seen, { decider, state }) => {
      const row = { channel, decider, state, revision: seen + 1 }
      return database.once((db) =>
        replaceRow(db, 'deliveries', seen === 0 ? null : { channel, revision: seen }, row),
      )
    },
  }
}
