// The lasting mark that this installation had an account once: with it the way in that needs no
// credential is shut for ever (document A, "First-run setup"), also when all accounts are deleted.
import { sql } from 'kysely'
import type { Db } from './tables.ts'

/** In the table `settings`, and so in each backup. */
const key = 'accounts.begun'

/** Sets the mark where there is an account; it is never taken away. */
export const markFirstAccount = `insert into settings (key, value, updated_at_ms)
  select '${key}', 'true', min(created_at_ms) from users having count(*) > 0
  on conflict (key) do nothing`

/** In the transaction that brings accounts in. */
export async function setFirstAccountMark(db: Db): Promise<void> {
  await sql.raw(markFirstAccount).execute(db)
}

export async function hasFirstAccountMark(db: Db): Promise<boolean> {
  const query = db.selectFrom('settings').select('key').where('key', '=', key)
  return (await query.executeTakeFirst()) !== undefined
}
