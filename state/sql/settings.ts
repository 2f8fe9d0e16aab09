// Shared settings as JSON text in the table `settings`.
import { settingsLimits } from '../ports/settings.ts'
import type { JsonValue, SharedSettings } from '../ports/settings.ts'
import { withFaults } from '../ports/store-result.ts'
import type { Sql } from './database/sql.ts'
import type { Db } from './database/tables.ts'

const { keysMax, valueBytesMax } = settingsLimits

export function createSqlSettings(database: Sql): SharedSettings {
  return {
    get: (key) =>
      database.repeatable(async (db) => {
        const row = await rowOf(db, key)
        return row === undefined ? undefined : (JSON.parse(row.value) as JsonValue)
      }),
    set: (key, value, nowMs) => {
      const row = { value: JSON.stringify(value), updated_at_ms: nowMs }
      const stored = database.repeatable(async (db) => {
        if (Buffer.byteLength(row.value) > valueBytesMax) return 'too-large'
        const isNew = (await rowOf(db, key)) === undefined
        if (isNew && (await count(db)) >= keysMax) return 'too-large'
        await db
          .insertInto('settings')
          .values({ key, ...row })
          .onConflict((conflict) => conflict.column('key').doUpdateSet(row))
          .execute()
        return undefined
      })
      const tooLarge = `At most ${keysMax} settings of ${valueBytesMax} octets are kept.`
      return withFaults(stored, { 'too-large': tooLarge })
    },
    delete: (key) =>
      database.once(async (db) => {
        const query = db.deleteFrom('settings').where('key', '=', key)
        return (await query.executeTakeFirst()).numDeletedRows > 0n
      }),
  }
}

async function rowOf(db: Db, key: string): Promise<{ readonly value: string } | undefined> {
  return await db.selectFrom('settings').select('value').where('key', '=', key).executeTakeFirst()
}

async function count(db: Db): Promise<number> {
  const query = db.selectFrom('settings').select((from) => from.fn.countAll<number>().as('count'))
  return Number((await query.executeTakeFirstOrThrow()).count)
}
