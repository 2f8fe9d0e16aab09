// Starts a node that can be replaced, in the place of another process where that is wanted.
import type { Daemon } from '#node/daemon/daemon.ts'
import type { Predecessor } from '#node/data/predecessor.ts'
import type { Settings } from '#settings/settings.ts'
import type { Io } from '#system/process/command.ts'
import type { ProcessLog } from '#node/process/log.ts'
import { openSupervisor } from '#node/process/supervisor.ts'
import { ok } from '#lib/result.ts'
import type { Result } from '#lib/result.ts'
import { sayReady } from './detach.ts'
import { awaitPredecessor } from './meet-predecessor.ts'
import { ReplaceableDaemon } from './replaceable.ts'

export type StartNode = (
  settings: Settings,
  log: ProcessLog,
  env: Io['env'],
  before: Predecessor | null,
) => Promise<Result<Daemon, string>>

export interface NodeStart {
  readonly settings: Settings
  readonly log: ProcessLog
  readonly env: Io['env']
  readonly start: StartNode
}

/** @param isReplacing where no process is to be replaced, it just starts */
export async function startReplaceable(
  { settings, log, env, start }: NodeStart,
  isReplacing: boolean,
): Promise<Result<ReplaceableDaemon, string>> {
  const met = isReplacing ? await awaitPredecessor(settings.dataDir, log) : ok(null)
  if (!met.ok) return met
  const before = met.value
  if (isReplacing && before === null) {
    log.info({ dataDir: settings.dataDir }, 'no process to replace here: starting as usual')
  }
  const daemon = await start(settings, log, env, before)
  if (!daemon.ok) {
    before?.giveUp()
    return daemon
  }
  await before?.running()
  const supervisor = openSupervisor({ ...env, ...before?.variables })
  const again = (now: Settings, own: Predecessor) => start(now, log, env, own)
  const node = new ReplaceableDaemon(daemon.value, { settings, log, supervisor, again })
  await sayReady(env)
  return ok(node)
}
