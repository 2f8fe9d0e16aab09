// Looks whether the PostgreSQL of an address can be used, and changes nothing there.
import { sql } from 'kysely'
import { err, ok } from '#lib/result.ts'
import type { Result } from '#lib/result.ts'
import { advised, sqlFault } from './sql/database/faults.ts'
import { postgresHosts } from './sql/database/find-primary.ts'
import { newerSentence, newestOf } from './sql/database/migrate.ts'
import { schemaVersion } from './sql/database/migrations.ts'
import { postgresDriver } from './sql/database/postgres.ts'
import type { PostgresOptions } from './sql/database/postgres.ts'
import type { Db } from './sql/database/tables.ts'

interface SeenDatabase {
  /** Version of its schema; 0: a node has yet to make it. */
  readonly schema: number
  /** Unix epoch, by the clock of the server. */
  readonly nowMs: number
}

/**
 * Errors: a sentence without the address.
 *
 * @param url a secret
 */
export async function lookAtDatabase(
  url: string,
  options: Omit<PostgresOptions, 'hosts'>,
): Promise<Result<SeenDatabase, string>> {
  const hosts = postgresHosts(url)
  if (!hosts.ok) return hosts
  try {
    const open = postgresDriver({ ...options, hosts: hosts.value })
    const connection = await open(new AbortController().signal)
    const seen = await seenIn(connection.db).finally(() => connection.close())
    return seen.schema > schemaVersion ? err(newerSentence(seen.schema, schemaVersion)) : ok(seen)
  } catch (error) {
    return err(advised('The database of database.url cannot be used', sqlFault(error)))
  }
}

async function seenIn(db: Db): Promise<SeenDatabase> {
  const schema = await newestOf(db).catch((error: unknown) => {
    if (sqlFault(error).code === '42P01') return 0
    throw error
  })
  // The last question, so that its answer is as young as can be.
  const { rows } = await sql<{ ms: number }>`
    select (extract(epoch from clock_timestamp()) * 1000)::float8 as ms`.execute(db)
  return { schema, nowMs: rows[0]!.ms }
}
