// The keys of zones on a node of the role dns alone: asked for again and again, and kept encrypted.
import { hkdfSync } from 'node:crypto'
import { join } from 'node:path'
import { KeyPuller, zoneKeysKind } from '#fleet/keys/key-puller.ts'
import type { KeyPullerParts } from '#fleet/keys/key-puller.ts'
import { systemClock } from '#lib/clock.ts'
import type { Log } from '#lib/log.ts'
import { err, ok } from '#lib/result.ts'
import { systemAfter } from '#lib/timer.ts'
import { readSecrets } from '#process/data/secrets.ts'
import { createKeyCopy, keyCopyFile } from '#server/signing/key-copy.ts'
import type { KeyCopy } from '#server/signing/key-copy.ts'
import { keyFolder, readStoredKeys } from '#server/signing/key-store.ts'
import { PulledKeys } from '#server/signing/pulled-keys.ts'
import type { OwnKeyFiles } from '#server/signing/pulled-keys.ts'
import { variable } from '#system/process/command.ts'
import type { Io } from '#system/process/command.ts'

/** What the copy has is in force when it returns. */
export function openPulledKeys(dataDir: string, env: Io['env'], log: Log): PulledKeys {
  const key = copyKeyOf(env)
  const path = join(dataDir, keyCopyFile)
  const copy = key === null ? noCopy : createKeyCopy(path, key, log)
  const keys = new PulledKeys(copy, ownFiles(join(dataDir, keyFolder), env))
  keys.start()
  return keys
}

/** Without a token nobody gives keys. */
const noCopy: KeyCopy = {
  ...{ read: () => undefined, isThere: () => false, write: () => undefined },
}

function ownFiles(directory: string, env: Io['env']): OwnKeyFiles {
  const secrets = readSecrets(env)
  const secretKey = secrets.ok ? secrets.value.secretKey : null
  return {
    directory,
    read: () => {
      try {
        return ok(readStoredKeys(directory, secretKey).found)
      } catch (error) {
        return err(`${directory} cannot be read: ${(error as Error).message}`)
      }
    },
  }
}

/** Made of what is in no file of the data directory: a copy of that has no keys. */
export function copyKeyOf(env: Io['env']): Uint8Array | null {
  const secret =
    variable(env, 'GSLB_SECRET_KEY') ??
    variable(env, 'GSLB_NODE_TOKEN') ??
    variable(env, 'GSLB_BUNDLE_TOKEN')
  if (secret === undefined) return null
  return new Uint8Array(hkdfSync('sha256', secret, '', 'gslbd copy of zone keys', 32))
}

type From = 'urls' | 'token' | 'report' | 'sealed' | 'trusted' | 'log'

export interface KeysPulled {
  /** See KeyPuller. */
  readonly stale: () => string | null
  readonly refusal: () => string
  readonly stop: () => Promise<void>
}

export function pullKeys(
  keys: PulledKeys,
  parts: Pick<KeyPullerParts, From>,
  missing: () => readonly string[],
): KeysPulled {
  const puller = new KeyPuller({
    ...parts,
    asks: zoneKeysKind,
    revision: () => keys.revision,
    take: ({ revision, content }) => keys.take(revision, Buffer.from(content).toString()),
    isAnyMissing: () => missing().length > 0,
    after: systemAfter,
    monotonicMs: systemClock.monotonicMs,
  })
  puller.start()
  return { stale: () => puller.stale(), refusal: () => puller.refusal, stop: () => puller.stop() }
}
