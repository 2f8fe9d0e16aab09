// Restores the rows of a backup into an empty database in one transaction; reads its files.
import { sql } from 'kysely'
import { err, ok } from '#lib/result.ts'
import type { Result } from '#lib/result.ts'
import { markRestoredAccounts } from '#state/sql/database/first-account.ts'
import { beginRestoredRevision } from '#state/sql/dnssec/zone-keys.ts'
import { schemaVersion } from '#state/sql/database/migrations.ts'
import type { Sql } from '#state/sql/database/sql.ts'
import type { Db } from '#state/sql/database/tables.ts'
import { backupTables } from './backup-tables.ts'
import { backupFiles, backupLimits, BackupSum, readLines } from './format.ts'
import type { BackupEnd, BackupFileName, BackupHeader } from './format.ts'
import type { FileLine, OctetsLine, TableLine } from './format.ts'

/** A backup that was read to its end and is complete. */
export interface CheckedBackup {
  readonly path: string
  readonly rows: number
  readonly createdAtMs: number
  /** False: its node may have listed nodes all the same. */
  readonly hasNodeList: boolean
  readonly files: ReadonlySet<BackupFileName>
  /** A secret that is sealed under GSLB_SECRET_KEY, as all of them; null: there is none. */
  readonly sealed: string | null
}

/**
 * Rows of an older schema get the defaults of newer columns.
 *
 * @param onRows called repeatedly with the number of restored rows
 * @returns the number of rows. Errors: a sentence that says what to do
 */
export async function restoreBackup(
  database: Sql,
  { path, rows }: Pick<CheckedBackup, 'path' | 'rows'>,
  onRows: (count: number) => void = () => undefined,
): Promise<Result<number, string>> {
  const restored = await database.once((db) =>
    db.transaction().execute(async (transaction) => {
      if (!(await isEmpty(transaction))) return false
      await insertAll(transaction, path, onRows)
      // A backup of an older schema has accounts, but no mark.
      await markRestoredAccounts(transaction)
      await beginRestoredRevision(transaction)
      await forgetNodes(transaction)
      return true
    }),
  )
  if (!restored.ok) return err(`${restored.error.message} Nothing was restored.`)
  if (restored.value) return ok(rows)
  return err('The database is not empty, and a backup replaces nothing. Restore it into a new one.')
}

/**
 * Secrets have columns of these names; keys of zones have theirs in a column of JSON. Quotes in
 * texts of people are escaped, so that none of them is taken for a column.
 */
const sealedColumn = /"(?:\w+_ciphertext|sealed)":"(v1\.[\w-]+)/
const sealedKey = /"keys":"\[.*?"secretCiphertext\\":\\"(v1\.[\w-]+)/

/** See `lib/secret-box.ts`. */
const sealedIn = (row: string): string | null =>
  (sealedColumn.exec(row) ?? sealedKey.exec(row))?.[1] ?? null

/** Reads the whole file once before anything is written. Errors: a sentence. */
export async function checkBackup(path: string): Promise<Result<CheckedBackup, string>> {
  const sum = new BackupSum()
  const files = new Map<BackupFileName, number>()
  let header: BackupHeader | undefined
  let [rows, last] = [0, '']
  let sealed: string | null = null
  try {
    for await (const line of linesBeforeEnd(path, (end) => (last = end))) {
      sum.add(line)
      if (header === undefined) {
        header = JSON.parse(line) as BackupHeader
        const problem = headerProblem(header)
        if (problem !== undefined) return err(problem)
      } else if (isOfFiles(line)) countOctets(line, files)
      else if (files.size > 0) throw new Error('a row behind the files')
      else if (tableOf(line) === undefined) {
        rows++
        sealed ??= sealedIn(line)
      }
    }
    const end = JSON.parse(last) as Partial<BackupEnd>
    const isWhole = end.rows === rows && end.sha256 === sum.digest()
    if (isWhole && header !== undefined) {
      const { createdAtMs, version } = header
      const hasNodeList = version >= 3
      return ok({ path, rows, createdAtMs, hasNodeList, files: new Set(files.keys()), sealed })
    }
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException
    if (code === 'ENOENT' || code === 'EACCES') return err(`${path} cannot be read (${code}).`)
  }
  return err(`${path} is not a whole backup of gslbd: it was cut or changed. Take another one.`)
}

/** @throws an error without a code for a line that no backup has */
function countOctets(line: string, files: Map<BackupFileName, number>): void {
  const name = fileOf(line)
  if (name !== undefined) {
    if (files.has(name)) throw new Error('a file that comes twice')
    files.set(name, 0)
    return
  }
  const [latest, before] = [...files].at(-1) ?? []
  if (latest === undefined || before === undefined) throw new Error('octets of no file')
  const bytes = before + octetsOf(line).length
  if (bytes > backupFiles[latest]) throw new Error('a file that is too large')
  files.set(latest, bytes)
}

/**
 * Yields the files of a checked backup in parts, one file after the other.
 *
 * @throws the error of the file system
 */
export async function* filesOf({ path }: Pick<CheckedBackup, 'path'>): AsyncGenerator<{
  readonly name: BackupFileName
  readonly octets: Uint8Array
}> {
  let name: BackupFileName | undefined
  for await (const line of linesBeforeEnd(path, () => undefined)) {
    if (!isOfFiles(line)) continue
    const next = fileOf(line)
    name = next ?? name
    if (name !== undefined) yield { name, octets: next === undefined ? octetsOf(line) : noOctets }
  }
}

const noOctets = new Uint8Array(0)
const fileMark = '{"file":'
const octetsMark = '{"octets":'

/** A row begins with a column: `id`, `key`, `node` …, never with one of these words. */
const isOfFiles = (line: string): boolean =>
  line.startsWith(fileMark) || line.startsWith(octetsMark)

/**
 * @returns undefined: the line has octets.
 * @throws for an unknown name
 */
function fileOf(line: string): BackupFileName | undefined {
  if (!line.startsWith(fileMark)) return undefined
  const { file } = JSON.parse(line) as FileLine
  if (!Object.hasOwn(backupFiles, file)) throw new Error('a file that is not known')
  return file
}

function octetsOf(line: string): Uint8Array {
  const { octets } = JSON.parse(line) as OctetsLine
  return Buffer.from(octets, 'base64')
}

/** Holds each line back until the next one: the last line must be the end and nothing else. */
async function* linesBeforeEnd(
  path: string,
  onEnd: (line: string) => void,
): AsyncGenerator<string> {
  let before: string | undefined
  for await (const line of readLines(path)) {
    if (before !== undefined) yield before
    before = line
  }
  onEnd(before ?? '')
}

function headerProblem(header: Partial<BackupHeader>): string | undefined {
  const isKnown = [1, 2, 3].includes(header.version ?? 0)
  if (header.format !== 'gslbd-backup' || !isKnown) {
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

/** Nodes of the lost installation, which another one may replace: nobody is to miss them. */
async function forgetNodes(db: Db): Promise<void> {
  await db.deleteFrom('alert_reports').execute()
  await db.updateTable('alert_lease').set({ holder: '' }).execute()
}

async function insertAll(db: Db, path: string, onRows: (count: number) => void): Promise<void> {
  let table: TableLine | undefined
  let rows: string[] = []
  let count = 0
  const flush = async (): Promise<void> => {
    if (table !== undefined && rows.length > 0) await insert(db, table, rows)
    onRows((count += rows.length))
    rows = []
  }
  for await (const line of linesBeforeEnd(path, () => undefined)) {
    // Files follow.
    if (isOfFiles(line)) break
    const next = tableOf(line)
    if (next !== undefined) {
      await flush()
      table = next
    } else if (table !== undefined) rows.push(line)
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
  const names = columns.filter((column) => known.columns.includes(column))
  if (names.length !== columns.length) throw new Error('a column that is not known')
  return { table, columns }
}
