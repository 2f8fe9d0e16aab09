// The database of a node that does not run: for commands that look into it or fill it.
import { systemClock } from '#lib/clock.ts'
import { ok } from '#lib/result.ts'
import type { Result } from '#lib/result.ts'
import type { PersistentState } from '#state/persistent.ts'
import { openDataDir } from './data-dir.ts'
import { createNodeState } from './node-state.ts'
import type { Settings } from './settings.ts'

/** Opens it, and closes it when `use` is done. Errors: a sentence. */
export async function withLoneState<T>(
  settings: Settings,
  use: (state: PersistentState) => Promise<Result<T, string>>,
): Promise<Result<T, string>> {
  const { dataDir, database } = settings
  // A node that runs holds the embedded database.
  const held = database.url === '' ? openDataDir(dataDir) : null
  if (held?.ok === false) return held
  try {
    const state = createNodeState({
      dataDir,
      databaseUrl: database.url,
      clock: systemClock,
      prepare: async () => ok(undefined),
    })
    try {
      const opened = await state.open()
      return opened.ok ? await use(opened.value) : opened
    } finally {
      await state.close()
    }
  } finally {
    if (held?.ok === true) held.value.release()
  }
}
