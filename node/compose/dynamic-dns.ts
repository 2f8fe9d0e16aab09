// Composes the TSIG keys and run-time records of a node: their store, a local copy, and news from
// other nodes.
import { join } from 'node:path'
import { assert } from '#lib/assert.ts'
import { readSecrets } from '#process/data/secrets.ts'
import type { Settings } from '#settings/settings.ts'
import type { Io } from '#system/process/command.ts'
import type { Clock } from '#lib/clock.ts'
import type { Log } from '#lib/log.ts'
import { ok } from '#lib/result.ts'
import type { Result } from '#lib/result.ts'
import { systemAfter } from '#lib/timer.ts'
import { DynamicDns } from '#zones/dynamic/dynamic-dns.ts'
import { copyFile, createLocalCopy } from '#zones/dynamic/local-copy.ts'
import { listenForChanges } from '#state/sql/change-listener.ts'
import type { ChangeListener } from '#state/sql/change-listener.ts'
import { dynamicDnsChannel } from '#state/sql/dynamic-dns.ts'
import type { NodeState } from '#node/stores/state.ts'

interface NodeDynamicDnsParts {
  readonly settings: Pick<Settings, 'dataDir'> & {
    readonly database: Pick<Settings['database'], 'url'>
  }
  readonly env: Io['env']
  readonly state: Pick<NodeState, 'atOnce' | 'exists'>
  readonly clock: Clock
  readonly log: Log
}

export interface NodeDynamicDns {
  readonly dynamicDns: DynamicDns
  readonly look: () => Promise<void>
  /** Looks at the database now, and again when another node announces a change. */
  readonly follow: () => void
  readonly stop: () => Promise<void>
}

/** Resolves when the records of the copy are in force. Errors: a sentence for the operator. */
export async function startDynamicDns(
  parts: NodeDynamicDnsParts,
): Promise<Result<NodeDynamicDns, string>> {
  const { settings, env, state, clock, log } = parts
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
    // An embedded database has no other writer, and is not created only to look.
    if (url === '' && (hasLooked || !state.exists())) return
    hasLooked = await dynamicDns.refresh()
  }
  let listener: ChangeListener | undefined
  return ok({
    dynamicDns,
    look,
    follow: () => {
      // Not awaited: opening a database takes seconds.
      const news = (): void => void look()
      assert(listener === undefined, 'the database is listened to once')
      if (url !== '') listener = listenForChanges(url, dynamicDnsChannel, news, systemAfter)
      news()
    },
    stop: async () => {
      await listener?.close()
      dynamicDns.stop()
    },
  })
}
