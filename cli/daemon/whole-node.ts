// Starts a node that does everything: what it checks of its own key comes first.
import { believeOwnKey, unbelievedKey } from '#cli/data/own-key.ts'
import type { Settings } from '#cli/settings/settings.ts'
import type { ProcessLog } from '#cli/terminal/log.ts'
import { systemClock } from '#lib/clock.ts'
import type { Result } from '#lib/result.ts'
import { startDaemon } from './daemon.ts'
import type { Daemon } from './daemon.ts'

/** Errors: a sentence for the operator. */
export function startWholeNode(
  settings: Settings,
  log: ProcessLog,
): Promise<Result<Daemon, string>> {
  return startDaemon(settings, log, async () => {
    const believed = believeOwnKey(settings)
    const warning = believed.ok ? unbelievedKey(settings, systemClock) : undefined
    if (warning !== undefined) log.warn({}, warning)
    return believed
  })
}
