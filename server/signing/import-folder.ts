// Takes the key files of a node into the database, so that all nodes have them.
import { signsAll } from '#dns/dnssec/key-record.ts'
import type { Log } from '#lib/log.ts'
import { ok } from '#lib/result.ts'
import { readStoredRecords } from './key-store.ts'
import { isSaid } from './key-vault.ts'
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
 * The files stay as they are; imported keys are recognised the next time. Keys that do not sign all
 * of their zone now are not imported, as they would stop signing it.
 *
 * @returns false: the database took nothing, but may later
 */
export async function importKeyFolder(parts: ImportParts): Promise<boolean> {
  const { directory, secretKey, vault, nowMs, log } = parts
  const { found, faults } = readStoredRecords(directory, secretKey, nowMs)
  for (const fault of faults.values()) log.warn({}, `${fault}; it is not taken into the database`)
  // All at once: the vault puts changes that wait into force together.
  const changes = [...found].map(([zone, records]) =>
    vault.change(zone, (before) => ok(before.length > 0 || !signsAll(records) ? before : records)),
  )
  const all = await Promise.all(changes)
  let isDone = true
  for (const [i, [zone, records]] of [...found].entries()) {
    const changed = all[i]!
    const tags = records.map(({ tag }) => tag)
    const isSame = (other: { readonly publicKey: Uint8Array }): boolean =>
      records.some(({ publicKey }) => Buffer.compare(other.publicKey, publicKey) === 0)
    if (!changed.ok) {
      isDone = false
      const reason = changed.error.message
      const what = 'the key in the folder is not taken into the database'
      if (!isSaid(changed.error)) log.warn({ zone, reason }, what)
    } else if (changed.value === records) {
      log.info({ zone, tags }, 'the keys in the folder are in the database now')
    } else if (changed.value.length === 0) {
      const what = `by their times the keys in ${directory} do not sign all of ${zone} now`
      log.warn({ zone, tags }, `${what}: they are not taken into the database. ${remedyOf(zone)}`)
    } else if (!changed.value.some(isSame)) {
      const what = `the database has other keys of ${zone} than ${directory}, and those are used`
      log.warn({ zone, tags }, `${what}: move the files away`)
    }
  }
  return isDone
}

const remedyOf = (zone: string): string =>
  `One alone signs on as a file, until POST /api/v1/dnssec/zones/${zone}/keys imports it`
