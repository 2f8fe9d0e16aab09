// Composes the keys that sign zones, from the settings and the environment.
import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { systemClock } from '#lib/clock.ts'
import type { Log } from '#lib/log.ts'
import { readSecrets } from '#process/data/secrets.ts'
import { keyCopyFile } from '#server/signing/key-copy.ts'
import type { KeySource } from '#server/signing/key-source.ts'
import { keyFolder } from '#server/signing/key-store.ts'
import { ZoneKeys } from '#server/signing/zone-keys.ts'
import type { Settings } from '#settings/settings.ts'
import type { Io } from '#system/process/command.ts'

/**
 * @param dataDir path of the data directory
 * @param source null: there are files alone
 */
export function createZoneKeys(
  { roles }: Pick<Settings, 'roles'>,
  dataDir: string,
  env: Io['env'],
  log: Log,
  source: KeySource | null,
): ZoneKeys {
  // Unreadable secrets have refused the start before.
  const secrets = readSecrets(env)
  const secretKey = secrets.ok ? secrets.value.secretKey : null
  return new ZoneKeys({
    directory: join(dataDir, keyFolder),
    ...{ secretKey, source },
    fault: source === null && secretKey === null ? keysElsewhere(dataDir) : null,
    // All control nodes share what is in their database; as a file, a first key is made where one
    // process is the whole server.
    mayGenerate: roles.includes('control') && (source !== null || roles.includes('dns')),
    clock: systemClock,
    log,
  })
}

/** Another key than those in the database would break the chain of trust. */
function keysElsewhere(dataDir: string): string | null {
  const copy = join(dataDir, keyCopyFile)
  return existsSync(copy)
    ? `${copy} is of keys in the database: set GSLB_SECRET_KEY, which seals them, and start ` +
        'again; to sign with key files in their place, move that file away'
    : null
}
