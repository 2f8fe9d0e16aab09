// Migrates a database to this program's schema, once, even when several nodes start together.
import { sql } from 'kysely'
import { err, ok } from '#lib/result.ts'
import type { Result } from '#lib/result.ts'
import type { Migration } from './migration.ts'
import type { Db } from './tables.ts'

/** An arbitrary constant, the same in all versions of the program. */
const migrationLock = 7_463_022_901

/**
 * Applies missing migrations in one transaction, under a lock of the database.
 *
 * Errors: a sentence, when the schema is of a newer program.
 *
 * @throws the driver's error
 */
export async function migrate(
  db: Db,
  migrations: readonly Migration[],
  nowMs: number,
): Promise<Result<void, string>> {
  return await db.transaction().execute(async (transaction) => {
    await sql`select pg_advisory_xact_lock(${sql.lit(migrationLock)})`.execute(transaction)
    await sql`create table if not exists gslbd_schema (
      version integer primary key,
      name text not null,
      applied_at_ms bigint not null
    )`.execute(transaction)
    const newest = await newestOf(transaction)
    if (newest > migrations.length) return err(newerSentence(newest, migrations.length))
    for (const { version, name, statements } of migrations.slice(newest)) {
      for (const statement of statements) await sql.raw(statement).execute(transaction)
      await transaction
        .insertInto('gslbd_schema')
        .values({ version, name, applied_at_ms: nowMs })
        .execute()
    }
    return ok(undefined)
  })
}

/**
 * The newest step that was made; 0: none.
 *
 * @throws the driver's error, as where the table of steps is not there
 */
export async function newestOf(db: Pick<Db, 'selectFrom'>): Promise<number> {
  const { version } = await db
    .selectFrom('gslbd_schema')
    .select((from) => from.fn.coalesce(from.fn.max('version'), from.lit(0)).as('version'))
    .executeTakeFirstOrThrow()
  return version
}

export function newerSentence(found: number, known: number): string {
  return (
    `The database has schema ${found}, and this program knows schemas up to ${known}. Start the ` +
    'newer gslbd that wrote it, or restore a backup of before the upgrade into an empty database.'
  )
}
