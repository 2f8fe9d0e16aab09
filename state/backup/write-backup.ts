// Writes one consistent copy of all tables, and files of the node, to a backup file.
import { createWriteStream, renameSync, rmSync } from 'node:fs'
import { dirname } from 'node:path'
import { pipeline } from 'node:stream/promises'
import { createGzip } from 'node:zlib'
import type { ZlibOptions } from 'node:zlib'
import { sql } from 'kysely'
import { flushDirectory } from '#lib/durable-file.ts'
import { err, ok } from '#lib/result.ts'
import type { Result } from '#lib/result.ts'
import { schemaVersion } from '#state/sql/database/migrations.ts'
import type { Sql } from '#state/sql/database/sql.ts'
import type { Db } from '#state/sql/database/tables.ts'
import { backupTables } from './backup-tables.ts'
import { backupFiles, backupLimits, BackupSum } from './format.ts'
import type { BackupEnd, BackupFileName, BackupHeader } from './format.ts'
import type { FileLine, OctetsLine, TableLine } from './format.ts'

/** A file of the node that goes into a backup. */
export interface FileToKeep {
  readonly name: BackupFileName
  readonly octets: AsyncIterable<Uint8Array> | Iterable<Uint8Array>
}

/**
 * Writes a temporary file and renames it to `path`. Only the owner can read the file: it has
 * password hashes, and possibly the node's private key.
 *
 * @param database null: the node has none
 * @returns the number of rows. Errors: a sentence
 */
export async function writeBackup(
  database: Pick<Sql, 'repeatable'> | null,
  path: string,
  nowMs: number,
  files: Iterable<FileToKeep> = [],
): Promise<Result<number, string>> {
  const temporary = `${path}.tmp`
  try {
    const lines = new Lines(temporary)
    const rows = await writeRows(database, lines, nowMs)
    if (!rows.ok) return rows
    // Files come after the rows, so that the transaction ends before they are read.
    await lines.append(filesAndEnd(files, lines.sum, rows.value), filesLevel)
    renameSync(temporary, path)
    flushDirectory(dirname(path))
    return rows
  } catch (error) {
    return err(fileSentence(error))
  } finally {
    rmSync(temporary, { force: true })
  }
}

/** Git's files are compressed already. */
const filesLevel = 1

/** Writes several gzip members one after the other, which readers treat as one. RFC 1952 */
class Lines {
  readonly #path: string
  sum = new BackupSum()

  constructor(path: string) {
    this.#path = path
  }

  /** Starts over: an earlier try may have failed half-way. */
  async begin(text: AsyncIterable<string>): Promise<void> {
    this.sum = new BackupSum()
    await this.#write(text, 'w', {})
  }

  async append(text: AsyncIterable<string>, level: number): Promise<void> {
    await this.#write(text, 'a', { level })
  }

  async #write(text: AsyncIterable<string>, flags: string, zlib: ZlibOptions): Promise<void> {
    const file = createWriteStream(this.#path, { mode: 0o600, flush: true, flags })
    await pipeline(text, createGzip(zlib), file)
  }
}

async function writeRows(
  database: Pick<Sql, 'repeatable'> | null,
  lines: Lines,
  nowMs: number,
): Promise<Result<number, string>> {
  if (database === null) return rowsOf(null, lines, nowMs)
  const written = await database.repeatable((db) =>
    db
      .transaction()
      .setIsolationLevel('repeatable read')
      .setAccessMode('read only')
      .execute((transaction) => rowsOf(transaction, lines, nowMs)),
  )
  return written.ok ? written.value : err(written.error.message)
}

async function rowsOf(db: Db | null, lines: Lines, nowMs: number): Promise<Result<number, string>> {
  const progress: Progress = { rows: 0, sqlError: undefined }
  try {
    await lines.begin(summed(backupLines(db, nowMs, progress), lines, progress))
    return ok(progress.rows)
  } catch (error) {
    // The caller handles database errors: it knows when to retry.
    if (progress.sqlError !== undefined) throw progress.sqlError
    return err(fileSentence(error))
  }
}

interface Progress {
  rows: number
  sqlError: Error | undefined
}

async function* summed(
  text: AsyncIterable<string>,
  lines: Pick<Lines, 'sum'>,
  progress: Progress,
): AsyncGenerator<string> {
  try {
    for await (const line of text) {
      lines.sum.add(line)
      yield `${line}\n`
    }
  } catch (error) {
    progress.sqlError = error as Error
    throw error
  }
}

async function* filesAndEnd(
  files: Iterable<FileToKeep>,
  sum: BackupSum,
  rows: number,
): AsyncGenerator<string> {
  const said = (line: object): string => {
    const text = JSON.stringify(line)
    sum.add(text)
    return `${text}\n`
  }
  for (const { name, octets } of files) {
    yield said({ file: name } satisfies FileLine)
    let bytes = 0
    for await (const part of octets) {
      bytes += part.length
      if (bytes > backupFiles[name]) throw new Error(`${name} is too large`)
      for (let at = 0; at < part.length; at += backupLimits.octetsPerLine) {
        const piece = Buffer.from(part.subarray(at, at + backupLimits.octetsPerLine))
        yield said({ octets: piece.toString('base64') } satisfies OctetsLine)
      }
    }
  }
  const end: BackupEnd = { rows, sha256: sum.digest() }
  yield `${JSON.stringify(end)}\n`
}

async function* backupLines(
  db: Db | null,
  nowMs: number,
  progress: Progress,
): AsyncGenerator<string> {
  const header: BackupHeader = {
    ...{ format: 'gslbd-backup', version: 3 },
    ...{ schema: schemaVersion, createdAtMs: nowMs },
  }
  yield JSON.stringify(header)
  if (db === null) return
  for (const { table, columns } of backupTables) {
    yield JSON.stringify({ table, columns } satisfies TableLine)
    const cursor = sql.ref(`backup_of_${table}`)
    await sql`declare ${cursor} no scroll cursor for
      select row_to_json(t)::text as line from ${sql.table(table)} t`.execute(db)
    for (;;) {
      const fetch = sql<{
        line: string
      }>`fetch ${sql.lit(backupLimits.rowsPerFetch)} from ${cursor}`
      const { rows } = await fetch.execute(db)
      if (rows.length === 0) break
      progress.rows += rows.length
      for (const { line } of rows) yield line
    }
    await sql`close ${cursor}`.execute(db)
  }
}

function fileSentence(error: unknown): string {
  const { code, message } = error as NodeJS.ErrnoException
  return `The backup cannot be written (${code ?? message}). Check backup.directory and its disk.`
}
