// Writes one consistent copy of all tables to a file.
import { createWriteStream, renameSync, rmSync } from 'node:fs'
import { dirname } from 'node:path'
import { pipeline } from 'node:stream/promises'
import { createGzip } from 'node:zlib'
import { sql } from 'kysely'
import { flushDirectory } from '#lib/durable-file.ts'
import { err, ok } from '#lib/result.ts'
import type { Result } from '#lib/result.ts'
import { schemaVersion } from '#state/sql/database/migrations.ts'
import type { Sql } from '#state/sql/database/sql.ts'
import type { Db } from '#state/sql/database/tables.ts'
import { backupTables } from './backup-tables.ts'
import { backupLimits, BackupSum } from './format.ts'
import type { BackupEnd, BackupHeader, TableLine } from './format.ts'

/**
 * Writes beside `path`, then renames; only the owner can read the file, which has password hashes.
 *
 * @returns how many rows it has. Errors: a sentence
 */
export async function writeBackup(
  database: Sql,
  path: string,
  nowMs: number,
): Promise<Result<number, string>> {
  const temporary = `${path}.tmp`
  const written = await database.repeatable((db) =>
    db
      .transaction()
      .setIsolationLevel('repeatable read')
      .setAccessMode('read only')
      .execute((transaction) => writeRows(transaction, temporary, nowMs)),
  )
  const outcome = written.ok ? written.value : err(written.error.message)
  try {
    if (outcome.ok) {
      renameSync(temporary, path)
      flushDirectory(dirname(path))
    }
  } catch (error) {
    return err(fileSentence(error))
  } finally {
    rmSync(temporary, { force: true })
  }
  return outcome
}

async function writeRows(db: Db, path: string, nowMs: number): Promise<Result<number, string>> {
  const progress: Progress = { rows: 0, sqlError: undefined }
  try {
    const file = createWriteStream(path, { mode: 0o600, flush: true })
    await pipeline(backupText(db, nowMs, progress), createGzip(), file)
    return ok(progress.rows)
  } catch (error) {
    // The database's own errors are for the caller, which knows when to try again.
    if (progress.sqlError !== undefined) throw progress.sqlError
    return err(fileSentence(error))
  }
}

interface Progress {
  rows: number
  sqlError: Error | undefined
}

async function* backupText(db: Db, nowMs: number, progress: Progress): AsyncGenerator<string> {
  const sum = new BackupSum()
  try {
    for await (const line of backupLines(db, nowMs, progress)) {
      sum.add(line)
      yield `${line}\n`
    }
  } catch (error) {
    progress.sqlError = error as Error
    throw error
  }
  const end: BackupEnd = { rows: progress.rows, sha256: sum.digest() }
  yield `${JSON.stringify(end)}\n`
}

async function* backupLines(db: Db, nowMs: number, progress: Progress): AsyncGenerator<string> {
  const header: BackupHeader = {
    ...{ format: 'gslbd-backup', version: 1 },
    ...{ schema: schemaVersion, createdAtMs: nowMs },
  }
  yield JSON.stringify(header)
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
  const { code } = error as NodeJS.ErrnoException
  return `The backup cannot be written (${code ?? 'unknown'}). Check backup.directory and its disk.`
}
