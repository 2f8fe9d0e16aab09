// Takes the backups of a running node, when one is due and on request.
import { existsSync } from 'node:fs'
import { isAbsolute, join } from 'node:path'
import { assert } from '#lib/assert.ts'
import type { Settings } from '#settings/settings.ts'
import type { Clock } from '#lib/clock.ts'
import { Mutex } from '#lib/mutex.ts'
import type { Log } from '#lib/log.ts'
import { err, ok } from '#lib/result.ts'
import type { Result } from '#lib/result.ts'
import { newestBackupMs, takeBackup, writeWithFiles } from '#state/backup/backups.ts'
import type { BackupDone } from '#state/backup/backups.ts'
import { gatherFiles } from './node-files.ts'
import type { NodeState } from './state.ts'

interface BackupsParts {
  readonly settings: Pick<Settings, 'backup' | 'dataDir' | 'gitops' | 'node'>
  readonly state: Pick<NodeState, 'exists' | 'open'>
  readonly clock: Clock
  readonly log: Log
}

/** A backup that was requested. */
export interface AskedBackup {
  readonly path: string
  readonly rows: number
  /** Sentences about what the backup lacks. */
  readonly missing: readonly string[]
}

/** Pause after a backup that failed. */
const retryMs = 60_000

export class Backups {
  readonly #parts: BackupsParts
  readonly #stop = new AbortController()
  isTaken = true
  #failedAtMs = 0
  /** Time of the newest backup as of the last look; null: there is none. */
  #newestMs: number | null = null
  /** The backup under way: one at a time. */
  readonly #mutex = new Mutex()
  #loggedMissing = ''

  constructor(parts: BackupsParts) {
    this.#parts = parts
  }

  /** The file has the time of the last backup: a restart neither skips one nor adds one. */
  async takeWhenDue(): Promise<void> {
    const { clock, log, settings } = this.#parts
    const { enabled, intervalMs, directory } = settings.backup
    // A node that has stored nothing yet has nothing to lose.
    if (!enabled || !this.#hasSomething()) return
    const nowMs = clock.nowMs()
    const newestMs = newestBackupMs(directory, nowMs)
    this.#newestMs = newestMs
    if (newestMs !== null && nowMs - newestMs < intervalMs) return
    const waitedMs = clock.monotonicMs() - this.#failedAtMs
    if (!this.isTaken && waitedMs < retryMs) return
    const taken = await this.#afterLast(() => this.#take())
    this.isTaken = taken.ok
    if (taken.ok) this.#newestMs = nowMs
    else this.#failedAtMs = clock.monotonicMs()
    if (taken.ok) log.info(taken.value, 'backup taken')
    else log.error({ directory }, `no backup, tried again in a minute: ${taken.error}`)
  }

  /** @param path '': in `backup.directory`, like scheduled ones. Errors: a sentence */
  takeNow = (path: string): Promise<Result<AskedBackup, string>> =>
    this.#afterLast(async () => {
      const missing: string[] = []
      const taken = await this.#take(path, missing)
      return taken.ok ? ok({ path: taken.value.path, rows: taken.value.rows, missing }) : taken
    })

  ageSeconds(): number | null {
    const newestMs = this.#newestMs
    return newestMs === null ? null : Math.max(0, this.#parts.clock.nowMs() - newestMs) / 1_000
  }

  /** Aborts the backup under way. */
  async stop(): Promise<void> {
    this.#stop.abort()
    await this.#mutex.idle()
  }

  #hasSomething(): boolean {
    const { settings, state } = this.#parts
    return state.exists() || existsSync(join(settings.dataDir, 'keys', 'node.pem'))
  }

  #afterLast<T>(work: () => Promise<Result<T, string>>): Promise<Result<T, string>> {
    return this.#mutex.take(work).catch((error: unknown) => err((error as Error).message))
  }

  async #take(path = '', missing: string[] = []): Promise<Result<BackupDone, string>> {
    const { clock, settings, state } = this.#parts
    if (this.#stop.signal.aborted) return err('The node is stopping.')
    assert(path === '' || isAbsolute(path), 'a backup is written to a whole path')
    if (path !== '' && existsSync(path)) return err(`${path} is there already: name a new file.`)
    const opened = state.exists() ? await state.open() : null
    if (opened?.ok === false) return opened
    const database = opened === null ? null : opened.value.sql
    const git = { searchPath: process.env['PATH'] ?? '', stop: this.#stop.signal }
    const gather = async (beside: string) => {
      const gathered = await gatherFiles(settings, beside, git)
      if (!gathered.ok) return gathered
      missing.push(...gathered.value.missing)
      this.#logMissing(gathered.value.missing)
      return ok(gathered.value.files)
    }
    if (path === '') return takeBackup(database, { ...settings.backup, gather }, clock)
    const written = await writeWithFiles(database, path, clock.nowMs(), gather)
    return written.ok ? ok({ path, rows: written.value, removed: [] }) : written
  }

  /** Logged once, not at each hourly backup. */
  #logMissing(missing: readonly string[]): void {
    const names = missing.join()
    if (names !== '' && names !== this.#loggedMissing) {
      this.#parts.log.warn({}, `a backup is not whole: ${names}`)
    }
    this.#loggedMissing = names
  }
}
