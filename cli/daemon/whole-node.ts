// Starts a node that does everything: what it checks of its own key comes first.
import { believeOwnKey, unbelievedKey } from '#cli/data/own-key.ts'
import { unusedByRole } from '#cli/node/clashing-settings.ts'
import type { Settings } from '#cli/settings/settings.ts'
import type { Io } from '#cli/terminal/command.ts'
import type { ProcessLog } from '#cli/terminal/log.ts'
import { systemClock } from '#lib/clock.ts'
import type { Result } from '#lib/result.ts'
import { startDaemon } from './daemon.ts'
import type { Daemon } from './daemon.ts'
import type { Predecessor } from '#cli/data/predecessor.ts'

/** Errors: a sentence for the operator. */
export function startWholeNode(
  settings: Settings,
  log: ProcessLog,
  env: Io['env'],
  before: Predecessor | null = null,
): Promise<Result<Daemon, string>> {
  const prepare = async (): Promise<Result<null, string>> => {
    const believed = believeOwnKey(settings)
    const warning = believed.ok ? unbelievedKey(settings, systemClock) : undefined
    if (warning !== undefined) log.warn({}, warning)
    for (const sentence of unusedByRole(settings)) log.warn({}, sentence)
    return believed
  }
  return startDaemon(settings, log, prepare, { env, before })
}
