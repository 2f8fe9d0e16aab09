// What the settings and the environment say of the keys that zones are signed with.
import { join } from 'node:path'
import { systemClock } from '#lib/clock.ts'
import type { Log } from '#lib/log.ts'
import { readSecrets } from '#node/data/secrets.ts'
import { keyFolder } from '#server/signing/key-store.ts'
import { ZoneKeys } from '#server/signing/zone-keys.ts'
import type { Settings } from '#settings/settings.ts'
import type { Io } from '#system/process/command.ts'

/** @param dataDir its path */
export function createZoneKeys(
  { roles }: Settings,
  dataDir: string,
  env: Io['env'],
  log: Log,
): ZoneKeys {
  // The start has refused secrets that cannot be read.
  const secrets = readSecrets(env)
  return new ZoneKeys({
    directory: join(dataDir, keyFolder),
    secretKey: secrets.ok ? secrets.value.secretKey : null,
    // Where one process is the whole server, a first key is made when it is wanted.
    mayGenerate: roles.includes('control') && roles.includes('dns'),
    clock: systemClock,
    log,
  })
}
