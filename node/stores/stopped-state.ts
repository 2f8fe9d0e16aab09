// Opens the database of a stopped node, for commands.
import { lstatSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { systemClock } from '#lib/clock.ts'
import { ok } from '#lib/result.ts'
import type { Result } from '#lib/result.ts'
import type { PersistentState } from '#state/persistent.ts'
import { openDataDir } from '#process/data/data-dir.ts'
import type { DataDir } from '#process/data/data-dir.ts'
import { createNodeState } from './state.ts'
import type { Settings } from '#settings/settings.ts'

/**
 * Opens the database, and closes it after `use`. If that fails, only what was made for it is
 * removed. Errors: a sentence.
 */
export async function withLoneState<T>(
  settings: Settings,
  use: (state: PersistentState) => Promise<Result<T, string>>,
): Promise<Result<T, string>> {
  // A running node holds the embedded database.
  if (settings.database.url !== '') return withState(settings, use)
  const held = openDataDir(settings.dataDir)
  return held.ok ? withHeld(held.value, () => withState(settings, use)) : held
}

async function withHeld<T>(
  dataDir: DataDir,
  use: () => Promise<Result<T, string>>,
): Promise<Result<T, string>> {
  // A link that leads nowhere counts as a database: somebody has put it there.
  const database = join(dataDir.path, 'database')
  const isNew = lstatSync(database, { throwIfNoEntry: false }) === undefined
  let isDone = false
  try {
    const used = await use()
    isDone = used.ok
    return used
  } finally {
    if (isDone) dataDir.release()
    else {
      if (isNew) rmSync(database, { recursive: true, force: true })
      dataDir.abandon()
    }
  }
}

/** As `withLoneState`, where the data directory is held already. */
export async function withState<T>(
  { dataDir, database }: Settings,
  use: (state: PersistentState) => Promise<Result<T, string>>,
): Promise<Result<T, string>> {
  const state = createNodeState({
    dataDir,
    databaseUrl: database.url,
    pool: database,
    clock: systemClock,
    prepare: async () => ok(undefined),
  })
  try {
    const opened = await state.open()
    return opened.ok ? await use(opened.value) : opened
  } finally {
    await state.close()
  }
}
