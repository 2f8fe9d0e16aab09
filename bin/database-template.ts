// Writes dist/database.zst, the empty embedded database that a first start unpacks.
import { mkdirSync, mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { systemClock } from '#lib/clock.ts'
import { packDatabase } from '#state/sql/database/database-template.ts'
import { openPglite } from '#state/sql/database/open-pglite.ts'
import { pgliteDriver } from '#state/sql/database/pglite.ts'
import { openSql } from '#state/sql/database/sql.ts'

/** @param path for dist/database.zst, or another place in a test */
export async function writeDatabaseTemplate(
  path = join(import.meta.dirname, '../dist/database.zst'),
): Promise<void> {
  const folder = mkdtempSync(join(tmpdir(), 'gslbd-database-'))
  const database = join(folder, 'database')
  try {
    const opened = await openSql('embedded', pgliteDriver(database, []), systemClock)
    if (!opened.ok) throw new Error(opened.error)
    const { state, fault } = opened.value.status()
    await opened.value.close()
    if (state !== 'up') throw new Error(`the empty database is ${state}: ${fault ?? ''}`)
    await slim(database)
    mkdirSync(dirname(path), { recursive: true })
    writeFileSync(path, packDatabase(database))
  } finally {
    rmSync(folder, { recursive: true })
  }
}

/**
 * Removes the parts that a node never reads, two thirds of the size: the log of the database's
 * making, and two template databases that only `CREATE DATABASE` copies.
 */
async function slim(directory: string): Promise<void> {
  const pglite = await openPglite(directory)
  await pglite.query('update pg_database set datistemplate = false')
  await pglite.query('drop database template0')
  await pglite.query('drop database template1')
  await pglite.query('select pg_switch_wal()')
  await pglite.query('checkpoint')
  const { rows } = await pglite.query<{ name: string }>(
    'select pg_walfile_name(pg_current_wal_lsn()) as name',
  )
  await pglite.close()
  const logs = join(directory, 'pg_wal')
  for (const name of readdirSync(logs)) {
    if (/^[0-9A-F]{24}$/.test(name) && name !== rows[0]?.name) rmSync(join(logs, name))
  }
}

if (import.meta.main) await writeDatabaseTemplate()
