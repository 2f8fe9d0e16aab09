// Keeps the backup directory: makes a backup when one is due, deletes the oldest.
import { mkdirSync, readdirSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import type { Clock } from '#lib/clock.ts'
import { err, ok } from '#lib/result.ts'
import type { Result } from '#lib/result.ts'
import type { Sql } from '#state/sql/database/sql.ts'
import { writeBackup } from './write-backup.ts'
import type { FileToKeep } from './write-backup.ts'

interface BackupOptions {
  /** `backup.directory`. */
  readonly directory: string
  /** `backup.keep`; 0 keeps all. */
  readonly keep: number
  /** Collects the node's files for the backup; left out: none. Errors: a sentence. */
  readonly gather?: GatherFiles
}

/** @param path of a temporary file beside the backup, which is removed afterwards */
type GatherFiles = (path: string) => Promise<Result<readonly FileToKeep[], string>>

export interface BackupDone {
  readonly path: string
  readonly rows: number
  /** Names of older backups that were removed. */
  readonly removed: readonly string[]
}

const namePattern = /^gslbd-(\d{4})(\d\d)(\d\d)T(\d\d)(\d\d)(\d\d)\.db(\.tmp|\.git)?$/
/** An older unfinished file was left by a killed process; a younger one may still be written. */
const unfinishedMs = 24 * 3_600_000

/** Writes one backup, then removes the oldest ones above `keep`. Errors: a sentence. */
export async function takeBackup(
  database: Sql | null,
  { directory, keep, gather }: BackupOptions,
  clock: Clock,
): Promise<Result<BackupDone, string>> {
  const nowMs = clock.nowMs()
  const path = join(directory, backupName(nowMs))
  try {
    mkdirSync(directory, { recursive: true, mode: 0o700 })
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException
    return err(`${directory} cannot be made (${code ?? 'unknown'}). Check backup.directory.`)
  }
  const written = await writeWithFiles(database, path, nowMs, gather)
  if (!written.ok) return written
  return { ok: true, value: { path, rows: written.value, removed: prune(directory, keep, nowMs) } }
}

/** Writes one backup to `path`. @returns the number of rows. Errors: a sentence */
export async function writeWithFiles(
  database: Sql | null,
  path: string,
  nowMs: number,
  gather?: GatherFiles,
): Promise<Result<number, string>> {
  const beside = `${path}.git`
  try {
    const files = gather === undefined ? ok([]) : await gather(beside)
    return files.ok ? await writeBackup(database, path, nowMs, files.value) : files
  } finally {
    rmSync(beside, { force: true })
  }
}

/** `gslbd-<YYYYMMDDTHHMMSS>.db` in UTC. */
export function backupName(nowMs: number): string {
  const text = new Date(nowMs).toISOString().slice(0, 'YYYY-MM-DDTHH:MM:SS'.length)
  return `gslbd-${text.replaceAll(/[-:]/g, '')}.db`
}

/** Time of the newest backup up to now; null: there is none. */
export function newestBackupMs(directory: string, nowMs: number): number | null {
  let newest: number | null = null
  for (const { atMs, isWhole } of backupsIn(directory)) {
    if (isWhole && atMs <= nowMs && atMs > (newest ?? -1)) newest = atMs
  }
  return newest
}

function prune(directory: string, keep: number, nowMs: number): readonly string[] {
  const all = backupsIn(directory)
  const dead = all.filter(({ isWhole, atMs }) => !isWhole && atMs < nowMs - unfinishedMs)
  for (const { name } of dead) rmSync(join(directory, name), { force: true })
  if (keep === 0) return []
  const whole = all.filter(({ isWhole }) => isWhole)
  // What a clock that was ahead has left goes first: it would push out each new one.
  const age = (one: BackupFile) => (one.atMs > nowMs ? 0 : one.atMs)
  const surplus = whole
    .toSorted((a, b) => age(a) - age(b) || a.atMs - b.atMs)
    .slice(0, -keep)
    .map(({ name }) => name)
  for (const name of surplus) rmSync(join(directory, name), { force: true })
  return surplus
}

interface BackupFile {
  readonly name: string
  readonly atMs: number
  /** false: still being written, or its writer was killed. */
  readonly isWhole: boolean
}

/** Ignores files with other names. */
function backupsIn(directory: string): readonly BackupFile[] {
  return listed(directory).flatMap((name) => {
    const found = namePattern.exec(name)
    if (found === null) return []
    const [year = 0, month = 0, ...rest] = found.slice(1, 7).map(Number)
    const atMs = Date.UTC(year, month - 1, ...rest)
    return [{ name, atMs, isWhole: found[7] === undefined }]
  })
}

function listed(directory: string): readonly string[] {
  try {
    return readdirSync(directory)
  } catch {
    // Missing before the first backup; an unreadable directory is reported by that backup.
    return []
  }
}
