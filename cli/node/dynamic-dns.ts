// Composes the TSIG keys and TXT records of a node: the store, its copy, and news of other nodes.
import { join } from 'node:path'
import { readSecrets } from '#cli/data/secrets.ts'
import type { Settings } from '#cli/settings/settings.ts'
import type { Io } from '#cli/terminal/command.ts'
import type { JobContext } from '#jobs/table.ts'
import type { Clock } from '#lib/clock.ts'
import type { Log } from '#lib/log.ts'
import { ok } from '#lib/result.ts'
import type { Result } from '#lib/result.ts'
import { systemAfter } from '#lib/timer.ts'
import { DynamicDns } from '#runtime/dynamic/dynamic-dns.ts'
import { createLocalCopy } from '#runtime/dynamic/local-copy.ts'
import { listenForChanges } from '#state/sql/change-listener.ts'
import { dynamicDnsChannel } from '#state/sql/dynamic-dns.ts'
import type { NodeState } from '#cli/stores/state.ts'

export interface NodeDynamicDnsParts {
  readonly settings: Pick<Settings, 'dataDir' | 'database'>
  readonly env: Io['env']
  readonly state: Pick<NodeState, 'atOnce' | 'exists'>
  readonly clock: Clock
  readonly log: Log
  /** The database is no other process's any more. Rejects: it will not be ours. */
  readonly mayLook?: Promise<unknown>
}

export interface NodeDynamicDns {
  readonly dynamicDns: DynamicDns
  readonly look: JobContext['lookAtDynamicDns']
  readonly stop: () => Promise<void>
}

const copyFile = 'dynamic-dns.copy'

/** What the copy has is in force when it resolves. Errors: a sentence for the operator. */
export async function startDynamicDns(
  parts: NodeDynamicDnsParts,
): Promise<Result<NodeDynamicDns, string>> {
  const { settings, env, state, clock, log, mayLook = Promise.resolve() } = parts
  const secrets = readSecrets(env)
  if (!secrets.ok) return secrets
  const { secretKey } = secrets.value
  const { url } = settings.database
  const dynamicDns = new DynamicDns({
    store: state.atOnce.dynamicDns,
    copy: createLocalCopy(join(settings.dataDir, copyFile), secretKey, log),
    secretKey,
    now: clock.nowMs,
    after: systemAfter,
    log,
  })
  await dynamicDns.start()
  let hasLooked = false
  const look = async (): Promise<void> => {
    // Nobody else writes into the embedded database, and it is not made to be looked at.
    if (url === '' && (hasLooked || !state.exists())) return
    hasLooked = await dynamicDns.refresh()
  }
  const news = (): void => void mayLook.then(look, () => undefined)
  const listener =
    url === '' ? undefined : listenForChanges(url, dynamicDnsChannel, news, systemAfter)
  // Not waited for: opening a database takes seconds.
  news()
  return ok({
    dynamicDns,
    look,
    stop: async () => {
      await listener?.close()
      dynamicDns.stop()
    },
  })
}
