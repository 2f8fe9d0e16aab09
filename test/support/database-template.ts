// An empty embedded database with its schema, made once on a machine and copied for each test:
// making one costs seconds. The tests of a first start let the node make its own.
import { createHash } from 'node:crypto'
import {
  cpSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  readdirSync,
  renameSync,
  rmSync,
  truncateSync,
  writeFileSync,
} from 'node:fs'
import { join } from 'node:path'
import { systemClock } from '#lib/clock.ts'
import { createPersistent } from '#state/persistent.ts'
import { migrations } from '#state/sql/database/migrations.ts'
import { openPglite } from '#state/sql/database/open-pglite.ts'
import { removeTempDir } from './temp-dir.ts'

const root = join(import.meta.dirname, '../..')
const cache = join(root, 'node_modules/.cache/gslbd-test')

/** Another schema, another PostgreSQL or other parameters make another template. */
function templatePath(): string {
  const parts = [
    JSON.stringify(migrations),
    readFileSync(import.meta.filename, 'utf8'),
    readFileSync(join(root, 'state/sql/database/open-pglite.ts'), 'utf8'),
    readFileSync(join(root, 'node_modules/@electric-sql/pglite/package.json'), 'utf8'),
  ]
  const digest = createHash('sha256').update(parts.join('\n')).digest('hex')
  return join(cache, `database-${digest.slice(0, 16)}`)
}

/** Puts a database that nobody has opened into the data directory. */
export async function placeDatabase(dataDir: string): Promise<void> {
  const path = templatePath()
  if (!existsSync(path)) await makeTemplate(path)
  cpSync(path, join(dataDir, 'database'), { recursive: true })
}

/** When two processes make it at the same time, the first one's stays. */
async function makeTemplate(path: string): Promise<void> {
  mkdirSync(cache, { recursive: true })
  const dataDir = mkdtempSync(join(cache, 'making-'))
  try {
    const opened = await createPersistent({ url: '', dataDir, node: 'n1', clock: systemClock })
    if (!opened.ok) throw new Error(opened.error)
    const { state, fault } = opened.value.status()
    await opened.value.close()
    if (state !== 'up') throw new Error(`the template of databases is ${state}: ${fault ?? ''}`)
    const database = join(dataDir, 'database')
    await slim(database)
    renameSync(database, path)
  } catch (error) {
    if (!existsSync(path)) throw error
  } finally {
    removeTempDir(dataDir)
  }
}

/**
 * A node reads 8 of 40 MB; the rest would be half of the cost of a test's start: the log of how
 * the database was made, and two databases that only `CREATE DATABASE` copies.
 */
async function slim(directory: string): Promise<void> {
  const pglite = await openPglite(directory)
  const { rows } = await pglite.query<{ oid: number }>(
    'select oid from pg_database where datname <> current_database()',
  )
  await pglite.exec('select pg_switch_wal(); checkpoint')
  const { rows: segments } = await pglite.query<{ name: string }>(
    'select pg_walfile_name(pg_current_wal_lsn()) as name',
  )
  await pglite.close()
  for (const { oid } of rows) {
    const path = join(directory, 'base', `${oid}`)
    for (const name of readdirSync(path)) rmSync(join(path, name))
  }
  const logs = join(directory, 'pg_wal')
  for (const name of readdirSync(logs)) {
    if (!/^[0-9A-F]{24}$/.test(name)) continue
    if (name === segments[0]?.name) makeSparse(join(logs, name))
    else rmSync(join(logs, name))
  }
}

/** The zeros at the end of a file become a hole. */
function makeSparse(path: string): void {
  const content = readFileSync(path)
  const end = content.findLastIndex((octet) => octet !== 0) + 1
  writeFileSync(path, content.subarray(0, end))
  truncateSync(path, content.length)
}
