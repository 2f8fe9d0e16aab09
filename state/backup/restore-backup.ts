// Restores a backup into an empty database, in one transaction.
import { sql } from 'kysely'
import { err, ok } from '#lib/result.ts'
import type { Result } from '#lib/result.ts'
import { markRestoredAccounts } from '#state/sql/database/first-account.ts'
import { schemaVersion } from '#state/sql/database/migrations.ts'
import type { Sql } from '#state/sql/database/sql.ts'
import type { Db } from '#state/sql/database/tables.ts'
import { backupTables } from './backup-tables.ts'
import { backupLimits, BackupSum, readLines } from './format.ts'
import type { BackupEnd, BackupHeader, TableLine } from './format.ts'

/** A file that was read to its end, and is whole. */
export interface CheckedBackup {
  readonly path: string
  readonly rows: number
}

/**
 * Rows of an older schema get the defaults of columns that are newer.
 *
 * @returns how many rows it had. Errors: a sentence that says what to do
 */
export async function restoreBackup(
  database: Sql,
  { path, rows }: CheckedBackup,
): Promise<Result<number, string>> {
  const restored = await database.once((db) =>
    db.transaction().execute(async (transaction) => {
      if (!(await isEmpty(transaction))) return false
      await insertAll(transaction, path)
      // A backup of an older schema has accounts, and no mark.
      await markRestoredAccounts(transaction)
      return true
    }),
  )
  if (!restored.ok) return err(`${restored.error.message} Nothing was restored.`)
  if (restored.value) return ok(rows)
  return err('The database is not empty, and a backup replaces nothing. Restore it into a new one.')
}

/** Reads the whole file once, before anything is written. Errors: a sentence. */
export async function checkBackup(path: string): Promise<Result<CheckedBackup, string>> {
  const sum = new BackupSum()
  let [rows, count, last] = [0, 0, '']
  try {
    for await (const line of readLines(path)) {
      if (count === 1) {
        const problem = headerProblem(last)
        if (problem !== undefined) return err(problem)
      }
      if (count > 0) {
        sum.add(last)
        if (tableOf(last) === undefined) rows++
      }
      ;[last, count] = [line, count + 1]
    }
    const end = JSON.parse(last) as Partial<BackupEnd>
    // The header is no row.
    if (end.rows === rows - 1 && end.sha256 === sum.digest()) return ok({ path, rows: end.rows })
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException
    if (code === 'ENOENT' || code === 'EACCES') return err(`${path} cannot be read (${code}).`)
  }
  return err(`${path} is not a whole backup of gslbd: it was cut or changed. Take another one.`)
}

function headerProblem(line: string): string | undefined {
  const header = JSON.parse(line) as Partial<BackupHeader>
  if (header.format !== 'gslbd-backup' || header.version !== 1) {
    return 'The file is not a backup that this gslbd knows. Restore it with the one that wrote it.'
  }
  if (Number(header.schema) <= schemaVersion) return undefined
  return (
    `The backup has schema ${header.schema}, and this program knows schemas up to ` +
    `${schemaVersion}. Restore it with the newer gslbd that wrote it.`
  )
}

async function isEmpty(db: Db): Promise<boolean> {
  for (const { table } of backupTables) {
    const found = await sql`select 1 from ${sql.table(table)} limit 1`.execute(db)
    if (found.rows.length > 0) return false
  }
  return true
}

async function insertAll(db: Db, path: string): Promise<void> {
  let table: TableLine | undefined
  let rows: string[] = []
  let before: string | undefined
  const flush = async (): Promise<void> => {
    if (table !== undefined && rows.length > 0) await insert(db, table, rows)
    rows = []
  }
  for await (const line of readLines(path)) {
    // The last line is the end and no row: each line waits for the next one.
    if (before !== undefined) {
      const next = tableOf(before)
      if (next !== undefined) {
        await flush()
        table = next
      } else if (table !== undefined) rows.push(before)
    }
    before = line
    if (rows.length >= backupLimits.rowsPerFetch) await flush()
  }
  await flush()
}

async function insert(db: Db, { table, columns }: TableLine, rows: string[]): Promise<void> {
  const list = sql.join(columns.map((column) => sql.ref(column)))
  const name = sql.table(table)
  await sql`insert into ${name} (${list}) select ${list}
    from json_populate_recordset(null::${name}, ${`[${rows.join(',')}]`}::json)`.execute(db)
}

/** A row has a column `id`, `key`, `node` …, and never `table`. */
function tableOf(line: string): TableLine | undefined {
  if (!line.startsWith('{"table":')) return undefined
  const { table, columns } = JSON.parse(line) as TableLine
  const known = backupTables.find((one) => one.table === table)
  if (known === undefined) throw new Error('a table that is not known')
  const names = columns.filter((column) => (known.columns as readonly string[]).includes(column))
  if (names.length !== columns.length) throw new Error('a column that is not known')
  return { table, columns }
}
