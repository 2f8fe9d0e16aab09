// The permanent mark that this installation has had an account: it closes the first-run setup for
// ever, even when all accounts are deleted.
import { sql } from 'kysely'
import type { Db } from './tables.ts'

/** Stored in the table `settings`, and so in each backup. */
const key = 'accounts.begun'

/** Runs in the transaction that makes an account; the mark is never removed. */
export async function setFirstAccountMark(db: Db, createdAtMs: number): Promise<void> {
  const mark = { key, value: 'true', updated_at_ms: createdAtMs }
  const query = db.insertInto('settings').values(mark)
  await query.onConflict((conflict) => conflict.column('key').doNothing()).execute()
}

/** Runs in the transaction that restores accounts, and sets the mark if there are any. */
export async function markRestoredAccounts(db: Db): Promise<void> {
  await sql`insert into settings (key, value, updated_at_ms)
    select ${key}, 'true', min(created_at_ms) from users having count(*) > 0
    on conflict (key) do nothing`.execute(db)
}

export async function hasFirstAccountMark(db: Db): Promise<boolean> {
  const query = db.selectFrom('settings').select('key').where('key', '=', key)
  return (await query.executeTakeFirst()) !== undefined
}
