// Composes the keys that sign zones, from the settings and the environment.
import { join } from 'node:path'
import { systemClock } from '#lib/clock.ts'
import type { Log } from '#lib/log.ts'
import { readSecrets } from '#node/data/secrets.ts'
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
  { roles }: Settings,
  dataDir: string,
  env: Io['env'],
  log: Log,
  source: KeySource | null,
): ZoneKeys {
  // Unreadable secrets have refused the start before.
  const secrets = readSecrets(env)
  return new ZoneKeys({
    directory: join(dataDir, keyFolder),
    secretKey: secrets.ok ? secrets.value.secretKey : null,
    source,
    // All control nodes share what is in their database; as a file, a first key is made where one
    // process is the whole server.
    mayGenerate: roles.includes('control') && (source !== null || roles.includes('dns')),
    clock: systemClock,
    log,
  })
}
