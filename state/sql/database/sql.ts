// Runs statements on one database: connects on demand, retries where that is safe.
import { setTimeout as delay } from 'node:timers/promises'
import type { Clock } from '#lib/clock.ts'
import { err, ok } from '#lib/result.ts'
import type { Result } from '#lib/result.ts'
import type { StoreCall, StoreFailure } from '#state/ports/store-result.ts'
import { advised, failureOf, isOfSchema, isServerFault, sqlFault } from './faults.ts'
import type { SqlFault } from './faults.ts'
import { sqlLimits } from './limits.ts'
import { migrate, newestOf } from './migrate.ts'
import { migrations } from './migrations.ts'
import type { Db } from './tables.ts'

type SqlKind = 'postgresql' | 'embedded'

/** An open connection to a database. */
interface SqlConnection {
  readonly db: Db
  readonly close: () => Promise<void>
  /** Broken for good; a new one must be opened. */
  readonly isBroken: () => boolean
  /** Called for each call that failed because the server is away or out of order. */
  readonly onFault?: (fault: SqlFault) => void
}

/**
 * @param signal aborts the opening
 * @throws the driver's error
 */
export type SqlDriver = (signal: AbortSignal) => Promise<SqlConnection>

export interface SqlStatus {
  readonly kind: SqlKind
  readonly state: 'up' | 'away' | 'refused'
  /** Since when, Unix epoch. */
  readonly sinceMs: number
  /** A sentence without values of rows; null while it is up. */
  readonly fault: string | null
}

export interface Sql {
  /** `work` may run more than once: it only reads, or is idempotent. */
  readonly repeatable: <T>(work: (db: Db) => Promise<T>) => StoreCall<T>
  /** `work` is retried only when certainly nothing was done. */
  readonly once: <T>(work: (db: Db) => Promise<T>) => StoreCall<T>
  readonly status: () => SqlStatus
  readonly close: () => Promise<void>
}

/**
 * Opens the database and migrates its schema. An unreachable database is tried again with each
 * call; one of a newer program is refused for good.
 *
 * Errors: a sentence that says what to do.
 *
 * @param onStatus called with each status, also when it has not changed
 * @param signal aborts an opening; nothing is opened from then on
 */
export async function openSql(
  kind: SqlKind,
  driver: SqlDriver,
  clock: Clock,
  onStatus: (status: SqlStatus) => void = () => undefined,
  signal: AbortSignal = neverAborted,
): Promise<Result<Sql, string>> {
  const calls = new SqlCalls(kind, () => driver(signal), clock, onStatus)
  const close = (): void => void calls.close()
  signal.addEventListener('abort', close)
  if (!signal.aborted) await calls.open()
  const { state, fault } = calls.status()
  if (state !== 'refused') return ok(calls)
  await calls.close()
  return err(fault!)
}

/** As the server says where not even the table of steps is there. */
const emptied = Object.assign(new Error('no step of the schema was made'), { code: '42P01' })

const neverAborted = new AbortController().signal

class SqlCalls implements Sql {
  readonly #kind: SqlKind
  readonly #driver: () => Promise<SqlConnection>
  readonly #clock: Clock
  readonly #onStatus: (status: SqlStatus) => void
  #connection: SqlConnection | null = null
  #opening: Promise<SqlConnection | null> | null = null
  #openedAtMs = Number.NEGATIVE_INFINITY
  /** Whether this process has had the schema. */
  #wasUp = false
  /** When a call last missed something of ours; null: all of it is there. */
  #lackedAtMs: number | null = null
  #underWay = 0
  #closed = false
  #status: SqlStatus

  constructor(
    kind: SqlKind,
    driver: () => Promise<SqlConnection>,
    clock: Clock,
    onStatus: (status: SqlStatus) => void,
  ) {
    this.#kind = kind
    this.#driver = driver
    this.#clock = clock
    this.#onStatus = onStatus
    this.#status = { kind, state: 'away', sinceMs: clock.nowMs(), fault: 'It was not opened yet.' }
  }

  readonly status = (): SqlStatus => this.#status

  readonly repeatable = <T>(work: (db: Db) => Promise<T>): StoreCall<T> => this.#call(work, true)

  readonly once = <T>(work: (db: Db) => Promise<T>): StoreCall<T> => this.#call(work, false)

  readonly close = async (): Promise<void> => {
    this.#closed = true
    await this.#opening
    const connection = this.#connection
    this.#connection = null
    await connection?.close().catch(() => undefined)
  }

  /** @returns null: it cannot be used at the moment; see the status */
  async open(): Promise<SqlConnection | null> {
    if (this.#connection?.isBroken() === true) await this.#drop()
    if (this.#connection !== null || this.#closed) return this.#connection
    if (this.#status.state === 'refused') return null
    this.#opening ??= this.#tryToOpen().finally(() => (this.#opening = null))
    return await this.#opening
  }

  async #tryToOpen(): Promise<SqlConnection | null> {
    const nowMs = this.#clock.monotonicMs()
    if (nowMs - this.#openedAtMs < sqlLimits.reopenPauseMs) return null
    this.#openedAtMs = nowMs
    let connection: SqlConnection | null = null
    try {
      connection = await this.#driver()
      // An empty database in the place of one that was in use is not begun anew: a restore may be
      // under way, whose tables would be in its way.
      if (this.#wasUp && (await newestOf(connection.db)) === 0) throw emptied
      const migrated = await migrate(connection.db, migrations, this.#clock.nowMs())
      if (migrated.ok) {
        this.#connection = connection
        this.#wasUp = true
        this.#is('up', null)
        return connection
      }
      this.#is('refused', migrated.error)
    } catch (error) {
      // An aborted opening is no fault.
      if (!this.#closed) this.#is('away', unopened[this.#kind](sqlFault(error)))
    }
    await connection?.close().catch(() => undefined)
    return null
  }

  async #call<T>(work: (db: Db) => Promise<T>, repeatable: boolean): StoreCall<T> {
    if (this.#underWay >= sqlLimits.callsMax) return err(overloaded)
    this.#underWay++
    const endMs = this.#clock.monotonicMs() + sqlLimits.callTimeMs
    try {
      for (let tried = 0; ; tried++) {
        const result = await this.#tryOnce(work)
        if (result.ok) return result
        const pauseMs = sqlLimits.retryPausesMs[tried]
        const { again, failure, isServers } = result.error
        const isSafe = again === 'safe' || (again === 'if-repeatable' && repeatable)
        const isTime = pauseMs !== undefined && this.#clock.monotonicMs() + pauseMs < endMs
        if (!isSafe || !isTime || this.#closed) {
          // Only after the retries: a connection that the server ended is replaced silently.
          if (isServers) this.#is('away', failure.message)
          return err(failure)
        }
        await delay(pauseMs)
      }
    } finally {
      this.#underWay--
    }
  }

  async #tryOnce<T>(work: (db: Db) => Promise<T>): Promise<Result<T, TryFailure>> {
    const connection = await this.open()
    if (connection === null)
      return err({ again: 'safe', failure: this.#failure(), isServers: false })
    try {
      const value = await work(connection.db)
      const isNews = this.#status.state !== 'up' && connection === this.#connection
      if (isNews && (await this.#hasSchema(connection))) this.#is('up', null)
      return ok(value)
    } catch (error) {
      const fault = sqlFault(error)
      // Without the driver's error, which carries the values of the statement.
      if (fault.kind === 'bug') throw new Error(`assertion failed: SQLSTATE ${fault.code}`)
      const failure = failureOf(fault)
      const isServers = isServerFault(fault)
      if (isOfSchema(fault)) this.#lackedAtMs = this.#clock.monotonicMs()
      if (isServers && !isOfSchema(fault)) connection.onFault?.(fault)
      if (fault.kind === 'refused') return err({ again: 'never', failure, isServers })
      const again = fault.kind === 'untouched' ? 'safe' : 'if-repeatable'
      return err({ again, failure, isServers })
    }
  }

  /**
   * A call that worked says nothing of a table or a right that it did not need, nor of the server
   * where it had nothing to ask.
   */
  async #hasSchema({ db }: SqlConnection): Promise<boolean> {
    const { schemaDoubtMs } = sqlLimits
    const lackedAtMs = this.#lackedAtMs ?? -Infinity
    if (this.#clock.monotonicMs() - lackedAtMs < schemaDoubtMs) return false
    const version = await newestOf(db).catch(() => 0)
    if (version < migrations.length) return false
    this.#lackedAtMs = null
    return true
  }

  async #drop(): Promise<void> {
    const connection = this.#connection
    this.#connection = null
    await connection?.close().catch(() => undefined)
  }

  #failure(): StoreFailure {
    const fault = this.#closed ? 'The database was closed.' : this.#status.fault
    return { code: 'store-away', message: fault ?? 'The database is being opened.' }
  }

  #is(state: SqlStatus['state'], fault: string | null): void {
    const sinceMs = state === this.#status.state ? this.#status.sinceMs : this.#clock.nowMs()
    this.#status = { kind: this.#kind, state, sinceMs, fault }
    this.#onStatus(this.#status)
  }
}

/** Shown to clients: no path, no host. The log has these. */
const unopened: Readonly<Record<SqlKind, (fault: SqlFault) => string>> = {
  postgresql: (fault) => advised('The database of database.url cannot be opened', fault),
  // On damaged files the machine says only that it ended.
  embedded: ({ kind, code }) => {
    const remedy = diskRemedies[code]
    if (remedy !== undefined) return `${notOpened} (${code}). ${remedy}`
    return `${notOpened} (${kind === 'unknown' ? 'it does not start' : code}). ${damagedRemedy}`
  },
}

const notOpened = 'The database in the data directory cannot be opened'

/** Remedy when nothing else explains why the database does not start. */
export const damagedRemedy = 'If it is damaged, move it away and restore a backup.'

const full = 'The disk is full: make room. That is no reason to restore a backup.'
const notAllowed = 'This user may not write there: give the directory back to the user of the node.'
const notAFolder = 'Its place is taken by what is no folder: look at "database" there.'

/** By the code of the operating system: the files themselves are not damaged. */
const diskRemedies: Readonly<Record<string, string>> = {
  EROFS: 'The file system is read-only: make it writable.',
  ENOSPC: full,
  EDQUOT: full,
  EACCES: notAllowed,
  EPERM: notAllowed,
  EEXIST: notAFolder,
  ENOTDIR: notAFolder,
  ELOOP: notAFolder,
}

interface TryFailure {
  readonly again: 'safe' | 'if-repeatable' | 'never'
  readonly failure: StoreFailure
  /** The status must show it; when nothing was open, it does already. */
  readonly isServers: boolean
}

const overloaded: StoreFailure = {
  code: 'store-away',
  message: `The database is overloaded: ${sqlLimits.callsMax} calls wait for it.`,
}
