// Opens the stores of a node, each when it is first needed.
import { existsSync } from 'node:fs'
import { join } from 'node:path'
import type { Clock } from '#lib/clock.ts'
import { err, ok } from '#lib/result.ts'
import type { Result } from '#lib/result.ts'
import { createPersistent } from '#state/persistent.ts'
import type { PersistentOptions, PersistentState } from '#state/persistent.ts'
import type { StoreCall, StoreFailure } from '#state/ports/store-result.ts'
import type { SqlStatus } from '#state/sql/database/sql.ts'

export interface NodeState {
  /** Each port opens the database at its first call. */
  readonly persistent: Pick<PersistentState, PersistentPort>
  /** For requests: each call fails at once while the embedded database is being created. */
  readonly atOnce: Pick<PersistentState, PersistentPort>
  /** Opens and prepares the database; creates an embedded one. */
  readonly begin: () => Promise<void>
  /** Opens the database. Errors: a sentence that says what to do. */
  readonly open: () => Promise<Result<PersistentState, string>>
  /** null: it was not needed yet. */
  readonly status: () => SqlStatus | null
  /** True while the embedded database is being created, which takes seconds. */
  readonly isBeingMade: () => boolean
  /** Whether a database exists: false at a first start. */
  readonly exists: () => boolean
  /** Aborts a slow opening; nothing is opened from then on. */
  readonly callOff: () => void
  readonly close: () => Promise<void>
}

const persistentPorts = [
  'users',
  'roles',
  'tenantKeys',
  'audit',
  'usage',
  'licences',
  'settings',
  'dynamicDns',
  'responseHits',
  'commitNews',
  'commitRecords',
  'alerts',
  'domains',
  'deliveries',
  'objectUses',
  'journals',
  'zoneKeys',
  'certificates',
  'acmeDns',
  'zonePushes',
] as const
type PersistentPort = (typeof persistentPorts)[number]

export interface NodeStateOptions {
  readonly dataDir: string
  /** Empty: PGlite in the data directory. */
  readonly databaseUrl: string
  /** PostgreSQL's pool of connections; left out: the default. */
  readonly pool?: PersistentOptions['pool']
  readonly clock: Clock
  /** Runs before the first call of a port, and again before each until it has succeeded. */
  readonly prepare: (state: PersistentState) => StoreCall<void>
  /** Called with each status of the database, changed or not. */
  readonly onStatus?: (status: SqlStatus) => void
}

export function createNodeState(options: NodeStateOptions): NodeState {
  const { dataDir, databaseUrl, pool = {}, clock, prepare, onStatus = () => undefined } = options
  let status: SqlStatus | null = null
  const note = (next: SqlStatus): void => {
    status = next
    onStatus(next)
  }
  const ending = new AbortController()
  const { signal } = ending
  const persistentOptions = { url: databaseUrl, pool, dataDir, clock, onStatus: note, signal }
  let opening: Promise<Result<PersistentState, string>> | undefined
  const open = (): Promise<Result<PersistentState, string>> =>
    (opening ??= createPersistent(persistentOptions).then((opened) => {
      if (!opened.ok) opening = undefined
      return opened
    }))
  const ready = whenPrepared(open, prepare, signal)
  const exists = (): boolean => databaseUrl !== '' || existsSync(join(dataDir, 'database'))
  const portsOf = (get: typeof ready): NodeState['persistent'] => {
    const ports = persistentPorts.map((name) => [name, whenReady(get, name)])
    return Object.fromEntries(ports) as NodeState['persistent']
  }
  let isMade = exists()
  const begin = (): StoreCall<PersistentState> => ready().finally(() => (isMade = true))
  const made: typeof ready = async () => {
    if (isMade) return ready()
    void begin()
    return err({ code: 'store-starting', message: beingMade })
  }
  return {
    persistent: portsOf(ready),
    atOnce: portsOf(made),
    begin: async () => void (await begin()),
    open,
    status: () => status,
    isBeingMade: () => !isMade,
    exists,
    callOff: () => ending.abort(),
    close: async () => {
      ending.abort()
      const opened = await opening
      if (opened?.ok === true) await opened.value.close()
    },
  }
}

const beingMade = 'the database is being made; try again in a few seconds'

type StoreMethod = (...values: readonly unknown[]) => Promise<unknown>

/** Callers that come while it is being prepared wait for that try. */
function whenPrepared(
  open: () => Promise<Result<PersistentState, string>>,
  prepare: NodeStateOptions['prepare'],
  signal: AbortSignal,
): () => StoreCall<PersistentState> {
  let preparing: StoreCall<void> | undefined
  return async () => {
    const opened = await open()
    if (!opened.ok) return err({ code: 'store-away', message: opened.error })
    if (signal.aborted) return err({ code: 'store-away', message: 'The node is stopping.' })
    const trying = (preparing ??= prepare(opened.value))
    const prepared = await trying
    if (prepared.ok) return ok(opened.value)
    if (preparing === trying) preparing = undefined
    return prepared
  }
}

/** Wraps a port whose methods all return a `StoreCall`. */
function whenReady(ready: () => StoreCall<PersistentState>, name: PersistentPort): object {
  const method = (key: string): StoreMethod => {
    return async (...values) => {
      const state = await ready()
      if (!state.ok) return err<StoreFailure>(state.error)
      const port = state.value[name] as unknown as Readonly<Record<string, StoreMethod>>
      return port[key]?.(...values)
    }
  }
  return new Proxy({}, { get: (_port, key) => method(String(key)) })
}
