// Looks whether the PostgreSQL of an address can be used, and changes nothing there.
import { err, ok } from '#lib/result.ts'
import type { Result } from '#lib/result.ts'
import { advised, sqlFault } from './sql/database/faults.ts'
import { postgresHosts } from './sql/database/find-primary.ts'
import { newerSentence, newestOf } from './sql/database/migrate.ts'
import { schemaVersion } from './sql/database/migrations.ts'
import { postgresDriver } from './sql/database/postgres.ts'
import type { PostgresOptions } from './sql/database/postgres.ts'

/**
 * Errors: a sentence without the address.
 *
 * @param url a secret
 * @returns the version of its schema; 0: a node has yet to make it
 */
export async function schemaOf(
  url: string,
  options: Omit<PostgresOptions, 'hosts'>,
): Promise<Result<number, string>> {
  const hosts = postgresHosts(url)
  if (!hosts.ok) return hosts
  try {
    const open = postgresDriver({ ...options, hosts: hosts.value })
    const connection = await open(new AbortController().signal)
    const version = await newestOf(connection.db).finally(() => connection.close())
    return version > schemaVersion ? err(newerSentence(version, schemaVersion)) : ok(version)
  } catch (error) {
    const fault = sqlFault(error)
    return fault.code === '42P01'
      ? ok(0)
      : err(advised('The database of database.url cannot be used', fault))
  }
}
