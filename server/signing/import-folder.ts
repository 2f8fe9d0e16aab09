// Takes the key files of a node into the database, so that all nodes have them.
import { noTimes, recordOfKey } from '#dns/dnssec/key-record.ts'
import type { Log } from '#lib/log.ts'
import { ok } from '#lib/result.ts'
import { readStoredKeys } from './key-store.ts'
import type { KeyVault } from './key-vault.ts'

interface ImportParts {
  /** See key-store.ts. */
  readonly directory: string
  readonly secretKey: Uint8Array
  readonly vault: Pick<KeyVault, 'change'>
  readonly nowMs: number
  readonly log: Log
}

/**
 * The files stay as they are: what was taken once is known the next time.
 *
 * @returns false: the database took nothing; later it may
 */
export async function importKeyFolder(parts: ImportParts): Promise<boolean> {
  const { directory, secretKey, vault, nowMs, log } = parts
  const { found, faults } = readStoredKeys(directory, secretKey)
  for (const fault of faults.values()) log.warn({}, `${fault}; it is not taken into the database`)
  let isDone = true
  for (const [zone, { key }] of found) {
    const inUse = { createdMs: nowMs, publishedMs: nowMs, activeMs: nowMs, dsSubmittedMs: nowMs }
    const record = recordOfKey(zone, key, 'csk', { ...noTimes, ...inUse })
    const isSame = (other: { readonly publicKey: Uint8Array }): boolean =>
      Buffer.compare(other.publicKey, record.publicKey) === 0
    const changed = await vault.change(zone, (before) => ok(before.length > 0 ? before : [record]))
    if (!changed.ok) {
      isDone = false
      const reason = changed.error.message
      log.warn({ zone, reason }, 'the key in the folder is not taken into the database')
    } else if (changed.value.includes(record)) {
      log.info({ zone, tag: key.tag }, 'the key in the folder is in the database now')
    } else if (!changed.value.some(isSame)) {
      const what = `the database has other keys of ${zone} than ${directory}, and those are used`
      log.warn({ zone, tag: key.tag }, `${what}: move the files away, or import them by the API`)
    }
  }
  return isDone
}
