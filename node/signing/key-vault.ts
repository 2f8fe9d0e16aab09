// Composes the keys of zones on a control node: the database, its copy, and news of other nodes.
import { existsSync, readdirSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { assert } from '#lib/assert.ts'
import type { Clock } from '#lib/clock.ts'
import type { Log } from '#lib/log.ts'
import type { Result } from '#lib/result.ts'
import { systemAfter } from '#lib/timer.ts'
import { readSecrets } from '#process/data/secrets.ts'
import type { NodeState } from '#node/stores/state.ts'
import type { FirstKeys, NoFirstKeys } from '#server/signing/key-source.ts'
import { importKeyFolder } from '#server/signing/import-folder.ts'
import { createKeyCopy, keyCopyFile } from '#server/signing/key-copy.ts'
import { keyFolder } from '#server/signing/key-store.ts'
import { giveBackFile, KeyVault } from '#server/signing/key-vault.ts'
import type { Settings } from '#settings/settings.ts'
import { listenForChanges } from '#state/sql/change-listener.ts'
import type { ChangeListener } from '#state/sql/change-listener.ts'
import { zoneKeysChannel } from '#state/sql/dnssec/zone-keys.ts'
import type { Io } from '#system/process/command.ts'

interface NodeKeyVaultParts {
  readonly settings: Pick<Settings, 'dataDir'> & {
    readonly database: Pick<Settings['database'], 'url'>
  }
  readonly env: Io['env']
  readonly state: Pick<NodeState, 'persistent' | 'exists'>
  readonly clock: Clock
  readonly log: Log
}

type PlanFirst = (zone: string) => Promise<Result<FirstKeys, NoFirstKeys>>

export interface NodeKeyVault {
  /** null: without GSLB_SECRET_KEY keys are files alone. */
  readonly vault: KeyVault | null
  /** What first keys are planned by; none are made before it is known. */
  readonly planFirst: (plan: PlanFirst) => void
  /** Takes what other nodes have written, and key files that the database has not taken yet. */
  readonly look: () => Promise<void>
  /** Opens the database where there is something to look for, and listens to it. */
  readonly follow: () => void
  readonly stop: () => Promise<void>
}

/** What the copy has is in force when it returns. */
export function startKeyVault(parts: NodeKeyVaultParts): NodeKeyVault {
  const { settings, env, state, clock, log } = parts
  // The start has refused secrets that cannot be read.
  const secrets = readSecrets(env)
  const secretKey = secrets.ok ? secrets.value.secretKey : null
  if (secretKey === null) return filesAlone
  const { url } = settings.database
  const copy = createKeyCopy(join(settings.dataDir, keyCopyFile), secretKey, log)
  const planned = Promise.withResolvers<PlanFirst>()
  const planFirst: PlanFirst = async (zone) => await (await planned.promise)(zone)
  const store = state.persistent.zoneKeys
  const vault = new KeyVault({ store, copy, secretKey, planFirst, clock, log })
  vault.start()
  const directory = join(settings.dataDir, keyFolder)
  let isImported = false
  let hasLooked = false
  const wish = join(settings.dataDir, giveBackFile)
  const look = async (): Promise<void> => {
    if (existsSync(wish)) {
      const given = await vault.giveBack()
      if (given.ok) rmSync(wish, { force: true })
      else log.warn({ reason: given.error.message }, 'keys of zones are not given back yet')
    }
    if (!isImported && hasFiles(directory)) {
      isImported = await importKeyFolder({
        ...{ directory, secretKey, vault, nowMs: clock.nowMs(), log },
      })
    } else isImported = true
    // Nobody else writes into the embedded database, and it is not made to be looked at.
    if (url === '' && (hasLooked || !state.exists())) return
    hasLooked = await vault.refresh()
  }
  let listener: ChangeListener | undefined
  return {
    vault,
    planFirst: planned.resolve,
    look,
    follow: () => {
      const news = (): void => void look()
      assert(listener === undefined, 'the database is listened to once')
      if (url !== '') listener = listenForChanges(url, zoneKeysChannel, news, systemAfter)
      // Not waited for: opening a database takes seconds.
      news()
    },
    stop: async () => listener?.close(),
  }
}

const filesAlone: NodeKeyVault = {
  vault: null,
  planFirst: () => undefined,
  look: () => Promise.resolve(),
  follow: () => undefined,
  stop: () => Promise.resolve(),
}

function hasFiles(directory: string): boolean {
  try {
    return readdirSync(directory).some((name) => name.endsWith('.key'))
  } catch {
    return false
  }
}
