// The embedded database (PGlite), in a directory that one process holds at a time.
import { existsSync } from 'node:fs'
import { dirname } from 'node:path'
import type { PGlite } from '@electric-sql/pglite'
import { Kysely, PGliteDialect } from 'kysely'
import { shippedTemplates } from './database-template.ts'
import { sqlFault } from './faults.ts'
import { makeDatabase } from './make-database.ts'
import { causeIn, openPglite } from './open-pglite.ts'
import type { SqlDriver } from './sql.ts'
import type { Tables } from './tables.ts'

/**
 * @param directory must not be opened twice: its opener holds the lock of the data directory
 * (`process/data/data-dir.ts`) around it
 * @param templates of an empty database
 */
export function pgliteDriver(
  directory: string,
  templates: readonly string[] = shippedTemplates,
): SqlDriver {
  return async (signal) => {
    if (!existsSync(directory)) await made(directory, signal, templates)
    const pglite = await openPglite(directory)
    let broken = false
    const watched = watch(pglite, () => (broken = true))
    const db = new Kysely<Tables>({ dialect: new PGliteDialect({ pglite: watched }) })
    return {
      db,
      close: async () => {
        await db.destroy()
        if (!pglite.closed) await pglite.close()
      },
      isBroken: () => broken || pglite.closed,
    }
  }
}

async function made(
  directory: string,
  signal: AbortSignal,
  templates: readonly string[],
): Promise<void> {
  try {
    await makeDatabase(directory, signal, templates)
  } catch (error) {
    throw signal.aborted ? error : (causeIn(dirname(directory)) ?? error)
  }
}

/** An error without a SQLSTATE is a crash of the machine. */
function watch(pglite: PGlite, onBroken: () => void): PGlite {
  const query = pglite.query.bind(pglite)
  pglite.query = (async (...args: Parameters<typeof query>) => {
    try {
      return await query(...args)
    } catch (error) {
      if (sqlFault(error).kind === 'unknown') onBroken()
      throw error
    }
  }) as typeof pglite.query
  return pglite
}
