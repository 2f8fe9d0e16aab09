// The databases that the contracts of persistent state are tested on.
import { mkdtempSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, beforeAll, beforeEach, inject } from 'vitest'
import { systemClock } from '#lib/clock.ts'
import { createPersistent } from '#state/persistent.ts'
import type { PersistentState } from '#state/persistent.ts'
import { placeDatabase } from './database-template.ts'
import { startPostgres } from './postgres-server.ts'
import { emptyTables } from './sql-tables.ts'

declare module 'vitest' {
  interface ProvidedContext {
    /** Whether real servers are tested, or the embedded database. */
    readonly stateServers: boolean
  }
}

type PersistentAdapter = () => Promise<{
  readonly state: PersistentState
  readonly stop: () => Promise<void>
}>

/** Opened databases for reuse: opening one costs more than most files of tests. */
const free: PersistentState[] = []

const embedded: PersistentAdapter = async () => {
  const known = free.pop()
  if (known !== undefined) await emptyTables(known.sql)
  const state = known ?? (await openEmbedded())
  // Stays open for the next test, and ends with the process.
  return {
    state: { ...state, close: async () => undefined },
    stop: async () => void free.push(state),
  }
}

async function openEmbedded(): Promise<PersistentState> {
  const dataDir = mkdtempSync(join(inject('runDirectory'), 'embedded-'))
  await placeDatabase(dataDir)
  return open('', dataDir)
}

const postgres: PersistentAdapter = async () => {
  const server = await startPostgres()
  return { state: await open(server.url, ''), stop: server.stop }
}

/** `npm test` uses the embedded one, `npm run test:peers` PostgreSQL. */
export const persistentAdapters: readonly [string, PersistentAdapter][] = inject('stateServers')
  ? [['PostgreSQL', postgres]]
  : [['the embedded database', embedded]]

/** Call it inside `describe`. @returns the state, empty at the start of each test */
export function useState(adapter: PersistentAdapter): () => PersistentState {
  let running: Awaited<ReturnType<PersistentAdapter>>
  beforeAll(async () => {
    running = await adapter()
  })
  beforeEach(() => emptyTables(running.state.sql))
  afterAll(async () => {
    await running.state.close()
    await running.stop()
  })
  return () => running.state
}

async function open(url: string, dataDir: string): Promise<PersistentState> {
  const opened = await createPersistent({ url, dataDir, clock: systemClock })
  if (!opened.ok) throw new Error(opened.error)
  return opened.value
}
