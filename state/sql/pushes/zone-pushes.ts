// Keeps the state of zone pushes in the tables `zone_pushes` and `zone_push_records`.
import { assert } from '#lib/assert.ts'
import { zonePushLimits } from '#state/ports/zone-pushes.ts'
import type { ZonePushStore } from '#state/ports/zone-pushes.ts'
import type { Sql } from '#state/sql/database/sql.ts'
import type { Db } from '#state/sql/database/tables.ts'
import { replaceRow } from '#state/sql/replace-row.ts'

/** Rows of one statement. */
const rowsMax = 1_000

export function createSqlZonePushes(database: Sql): ZonePushStore {
  return {
    read: (target) =>
      database.repeatable(async (db) => {
        const row = await db
          .selectFrom('zone_pushes')
          .select(['revision', 'state'])
          .where('target', '=', target)
          .executeTakeFirst()
        return row === undefined ? null : { ...row, revision: Number(row.revision) }
      }),
    replace: (target, seen, state) => {
      assert(state.length <= zonePushLimits.stateMax, 'what is said of a push was bounded before')
      const row = { target, state, revision: seen + 1 }
      return database.once((db) =>
        replaceRow(db, 'zone_pushes', seen === 0 ? null : { target, revision: seen }, row),
      )
    },
    records: (target) =>
      database.repeatable(async (db) => {
        const rows = db.selectFrom('zone_push_records').select('record')
        return (await rows.where('target', '=', target).execute()).map(({ record }) => record)
      }),
    change: (target, removed, added) =>
      database.repeatable((db) =>
        db.transaction().execute((transaction) => change(transaction, target, removed, added)),
      ),
  }
}

async function change(
  db: Db,
  target: string,
  removed: readonly string[],
  added: readonly string[],
): Promise<null> {
  for (let at = 0; at < removed.length; at += rowsMax) {
    await db
      .deleteFrom('zone_push_records')
      .where('target', '=', target)
      .where('record', 'in', removed.slice(at, at + rowsMax))
      .execute()
  }
  for (let at = 0; at < added.length; at += rowsMax) {
    const rows = added.slice(at, at + rowsMax).map((record) => ({ target, record }))
    await db
      .insertInto('zone_push_records')
      .values(rows)
      .onConflict((conflict) => conflict.columns(['target', 'record']).doNothing())
      .execute()
  }
  return null
}
