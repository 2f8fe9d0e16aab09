// Shared settings as JSON text in the table `settings`.
import { err, ok } from '#lib/result.ts'
import type { Result } from '#lib/result.ts'
import { settingsLimits } from '../ports/settings.ts'
import type { JsonValue, SharedSettings } from '../ports/settings.ts'
import type { StoreCall, StoreFailure } from '../ports/store-result.ts'
import type { Sql } from './database/sql.ts'
import type { Db } from './database/tables.ts'

export function createSqlSettings(database: Sql): SharedSettings {
  return {
    get: (key) =>
      database.repeatable(async (db) => {
        const text = await select(db, key)
        return text === undefined ? undefined : (JSON.parse(text) as JsonValue)
      }),
    set: async (key, value, nowMs): StoreCall<void, 'too-large'> => {
      const stored = await put(database, key, value, nowMs, true)
      return stored.ok ? ok(undefined) : stored
    },
    putFirst: (key, value, nowMs) => put(database, key, value, nowMs, false),
    delete: (key) =>
      database.once(async (db) => {
        const query = db.deleteFrom('settings').where('key', '=', key)
        return (await query.executeTakeFirst()).numDeletedRows > 0n
      }),
    list: () =>
      database.repeatable(async (db) => {
        const rows = await db.selectFrom('settings').selectAll().orderBy('key').execute()
        return new Map(rows.map(({ key, value }) => [key, JSON.parse(value) as JsonValue]))
      }),
  }
}

/** @returns the stored value */
async function put(
  database: Sql,
  key: string,
  value: JsonValue,
  nowMs: number,
  replaces: boolean,
): Promise<Result<JsonValue, StoreFailure<'too-large'>>> {
  const text = JSON.stringify(value)
  if (Buffer.byteLength(text) > settingsLimits.valueBytesMax) return tooLarge()
  const stored = await database.repeatable(async (db) => {
    const known = await select(db, key)
    if (known !== undefined && !replaces) return known
    if (known === undefined && (await count(db)) >= settingsLimits.keysMax) return undefined
    const row = { value: text, updated_at_ms: nowMs }
    await db
      .insertInto('settings')
      .values({ key, ...row })
      .onConflict((conflict) =>
        replaces ? conflict.column('key').doUpdateSet(row) : conflict.column('key').doNothing(),
      )
      .execute()
    return (await select(db, key)) ?? text
  })
  if (!stored.ok) return stored
  return stored.value === undefined ? tooLarge() : ok(JSON.parse(stored.value) as JsonValue)
}

async function select(db: Db, key: string): Promise<string | undefined> {
  const query = db.selectFrom('settings').select('value').where('key', '=', key)
  return (await query.executeTakeFirst())?.value
}

async function count(db: Db): Promise<number> {
  const query = db.selectFrom('settings').select((from) => from.fn.countAll<number>().as('count'))
  return Number((await query.executeTakeFirstOrThrow()).count)
}

function tooLarge() {
  const { keysMax, valueBytesMax } = settingsLimits
  const message = `At most ${keysMax} settings of ${valueBytesMax} octets are kept.`
  return err({ code: 'too-large', message } as const)
}
