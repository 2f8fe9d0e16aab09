// The directory of backups: one more when it is time, and no more than are to be kept.
import { mkdirSync, readdirSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import type { Clock } from '#lib/clock.ts'
import { err } from '#lib/result.ts'
import type { Result } from '#lib/result.ts'
import type { Sql } from '../sql/sql.ts'
import { writeBackup } from './write-backup.ts'

export interface BackupOptions {
  /** `backup.directory`. */
  readonly directory: string
  /** `backup.keep`; 0 keeps all. */
  readonly keep: number
}

export interface BackupDone {
  readonly path: string
  readonly rows: number
  /** Names of older backups that were removed. */
  readonly removed: readonly string[]
}

const namePattern = /^gslbd-\d{8}T\d{6}\.db$/

/** Writes one backup, then removes the oldest above `keep`. Errors: a sentence. */
export async function takeBackup(
  database: Sql,
  { directory, keep }: BackupOptions,
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
  const written = await writeBackup(database, path, nowMs)
  if (!written.ok) return written
  return { ok: true, value: { path, rows: written.value, removed: prune(directory, keep) } }
}

/** `gslbd-<YYYYMMDDTHHMMSS>.db` in UTC (document A, "backups"). */
export function backupName(nowMs: number): string {
  const text = new Date(nowMs).toISOString().slice(0, 'YYYY-MM-DDTHH:MM:SS'.length)
  return `gslbd-${text.replaceAll(/[-:]/g, '')}.db`
}

/** Names sort by time. Files of other names are not ours. */
function prune(directory: string, keep: number): readonly string[] {
  if (keep === 0) return []
  const names = readdirSync(directory).filter((name) => namePattern.test(name))
  const surplus = names.toSorted().slice(0, -keep)
  for (const name of surplus) rmSync(join(directory, name), { force: true })
  return surplus
}
