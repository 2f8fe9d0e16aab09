// Runs the periodic work on the database: adds usage, makes backups, trims the audit copy.
import { resolve } from 'node:path'
import { builtInRoles } from '#access/permissions.ts'
import { CommitRecorder } from '#jobs/commit-recorder.ts'
import { ResponseHitMeter } from '#jobs/response-hit-meter.ts'
import { UsageMeter } from '#jobs/usage-meter.ts'
import { UseMeter } from '#jobs/use-meter.ts'
import type { UseMeterParts } from '#jobs/use-meter.ts'
import type { Clock } from '#lib/clock.ts'
import { listedHosts } from '#state/ports/host-list.ts'
import type { Log } from '#lib/log.ts'
import { auditLimits } from '#state/ports/audit.ts'
import type { ResponseHitTotals } from '#state/ports/response-hits.ts'
import { damagedRemedy } from '#state/sql/database/sql.ts'
import { Backups } from './backups.ts'
import { DatabaseWatch } from './database-watch.ts'
import type { DatabasePlace } from './database-watch.ts'
import { createNodeState } from './state.ts'
import type { NodeState, NodeStateOptions } from './state.ts'
import type { Settings } from '#settings/settings.ts'

interface NodeRecordsParts {
  readonly settings: Settings
  /** Queries for names of each tenant since the last call. */
  readonly takeQueries: () => ReadonlyMap<string, number>
  /** Hits of response rules and redirects since this process started, by uid. */
  readonly responseHits: () => ReadonlyMap<string, number>
  /** Use of names and members. */
  readonly use: Pick<UseMeterParts, 'takeUsed' | 'objects'>
  readonly clock: Clock
  readonly log: Log
}

/** See `jobs/table.ts`. */
type RecordsJob =
  | ('flushUsage' | 'flushUse' | 'flushResponseHits' | 'recordCommits')
  | ('backUp' | 'pruneAudit' | 'lookAtDatabase')

export interface NodeRecords {
  readonly state: NodeState
  /** Counts an authenticated API request. */
  readonly countCall: (tenant: string) => void
  readonly jobs: Readonly<Record<RecordsJob, () => Promise<void>>>
  readonly responseHits: ResponseHitTotals
  readonly memberChanged: (uid: string) => void
  readonly commits: CommitRecorder
  readonly database: () => DatabaseView
  /** false: the last backup that was due could not be taken. */
  readonly isBackedUp: () => boolean
  /** Age of the newest backup; null: backups are off, or there is none. */
  readonly backupAgeSeconds: () => number | null
  /** Takes a backup now, into a file or into `backup.directory`. */
  readonly backUpNow: Backups['takeNow']
  /** Stores the counters, then closes the database. */
  readonly close: () => Promise<void>
}

export interface DatabaseView {
  /** false: until the database is back, nobody can log in, and accounts cannot be read. */
  readonly isUp: boolean
  /** True when it was reached at least once since the start. */
  readonly wasThere: boolean
  /** A sentence that everybody may see; null or left out: the database is up. */
  readonly fault?: string | null
}

/** Time for the last usage at shutdown, when the database does not answer. */
const lastFlushMs = 5_000

export function createNodeRecords(parts: NodeRecordsParts): NodeRecords {
  const { settings, takeQueries, responseHits: counted, clock, log } = parts
  const { dataDir, database, api } = settings
  const watch = new DatabaseWatch(log, (fault) => databaseOf(settings, fault))
  const state = createNodeState({
    dataDir,
    databaseUrl: database.url,
    pool: database,
    clock,
    prepare: roleKeeper(settings, clock, log),
    onStatus: (status) => watch.note(status),
  })
  const { usage, audit, users, responseHits } = state.persistent
  const meter = new UsageMeter({ usage, takeQueries, clock, log })
  const isThere = (): boolean => state.exists()
  const hits = new ResponseHitMeter({ store: responseHits, isThere, counted, clock, log })
  const commits = new CommitRecorder({
    ...{ store: state.persistent.commitRecords, isThere, clock, log },
    node: settings.state.nodeName,
  })
  const useParts = { store: state.persistent.objectUses, node: settings.state.nodeName }
  const uses = new UseMeter({ ...parts.use, ...useParts, isThere, clock, log })
  // On a node without an API nobody could ask for usage in its own database.
  const isMetered = api.enabled || database.url !== ''
  const backups = new Backups({ settings, state, clock, log })
  return {
    state,
    countCall: (tenant) => meter.countCall(tenant),
    responseHits: hits.totals,
    memberChanged: (uid) => uses.memberChanged(uid),
    commits,
    jobs: {
      flushUsage: async () => (isMetered ? meter.flush() : undefined),
      flushUse: async () => (isMetered ? uses.flush() : undefined),
      flushResponseHits: async () => (isMetered ? hits.flush() : undefined),
      recordCommits: async () => (isMetered ? commits.flush() : undefined),
      backUp: () => backups.takeWhenDue(),
      pruneAudit: async () => {
        if (!state.exists()) return
        const beforeMs = clock.nowMs() - auditLimits.keptMs
        const pruned = await audit.prune(beforeMs, auditLimits.entriesMax)
        if (!pruned.ok) log.warn({}, `the audit copy is not pruned: ${pruned.error.message}`)
      },
      // Asked regularly: a server elsewhere may go away while nobody uses it.
      lookAtDatabase: async () => {
        if (database.url !== '') await users.hasAny()
      },
    },
    database: () => {
      const { state: current, fault } = state.status() ?? { state: 'up', fault: null }
      return { isUp: current === 'up', wasThere: watch.wasUp, fault }
    },
    isBackedUp: () => backups.isTaken,
    backupAgeSeconds: () => backups.ageSeconds(),
    backUpNow: backups.takeNow,
    close: async () => {
      await backups.stop()
      // A database that was not needed so far is not created for the counters of the first minute.
      const flushed = async (): Promise<void> => {
        await Promise.all([meter.flush(), hits.flush(), commits.flush(), uses.flush(true)])
      }
      if (isMetered && state.exists()) await withinTime(flushed(), log)
      await state.close()
    },
  }
}

async function withinTime(flushed: Promise<void>, log: Log): Promise<void> {
  const late = Promise.withResolvers<undefined>()
  const timer = setTimeout(() => {
    log.warn({ lastFlushMs }, 'the database does not answer: the last counts of usage are lost')
    late.resolve(undefined)
  }, lastFlushMs)
  await Promise.race([flushed, late.promise])
  clearTimeout(timer)
}

/** Logs twice at most: while the database is away there are as many tries as calls. */
function roleKeeper(settings: Settings, clock: Clock, log: Log): NodeStateOptions['prepare'] {
  const system = Object.entries(builtInRoles).map(([name, permissions]) => ({ name, permissions }))
  let isLogged = false
  return async ({ roles }) => {
    const ensured = await roles.ensureSystem(system, clock.nowMs())
    if (!ensured.ok && !isLogged) {
      const { code, message } = ensured.error
      const { fields, remedy } = databaseOf(settings, message)
      const what = `no logins, accounts and tenant keys until the database is back: ${message}`
      log.error({ code, ...fields }, `${what} ${remedy}`.trimEnd())
    }
    if (ensured.ok && isLogged) log.info({}, 'the built-in roles are stored')
    isLogged = !ensured.ok
    return ensured
  }
}

/** Where the database is, without the URL, which is a secret, and what helps when it is away. */
function databaseOf({ dataDir, database: { url } }: Settings, message: string): DatabasePlace {
  if (url === '') {
    const directory = resolve(dataDir, 'database')
    const remedy =
      `To do so, stop the node, move ${directory} away, and run gslbd restore FILE ` +
      '--only-database. Without a backup the next start makes an empty one.'
    // When the disk is full, moving the database away would not help.
    return { fields: { directory }, remedy: message.includes(damagedRemedy) ? remedy : '' }
  }
  // Without the port: after a slash in a password it would be a piece of the password.
  const host = (listedHosts(url) ?? []).map((one) => one.host).join()
  const remedy = 'Look whether the server runs and takes the address, user and password.'
  return { fields: { setting: 'database.url', host }, remedy }
}
