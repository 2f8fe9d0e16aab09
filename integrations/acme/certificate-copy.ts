// The copy of the certificate in the data directory, sealed, so that a node serves with it without
// the database or the control node that it has it from.
import { readFileSync, statSync } from 'node:fs'
import { writeDurably } from '#lib/durable-file.ts'
import type { Log } from '#lib/log.ts'
import { err, ok } from '#lib/result.ts'
import type { Result } from '#lib/result.ts'
import { seal, unseal } from '#lib/secret-box.ts'
import { acmeStateLimits, printState, readState } from './acme-state.ts'
import type { AcmeState } from './acme-state.ts'

/** In the data directory. */
export const certificateCopyFile = 'certificates.copy'

export interface CertificateCopy {
  /** undefined: there is none that can be read. */
  readonly read: () => AcmeState | undefined
  /** What cannot be written is said in the log. */
  readonly write: (state: AcmeState) => void
}

const fileBytesMax = acmeStateLimits.textMax * 6

/** @returns null: there is no copy. Errors: a sentence without its full stop */
export function readCertificateCopy(
  path: string,
  key: Uint8Array | null,
): Result<AcmeState | null, string> {
  try {
    const size = statSync(path, { throwIfNoEntry: false })?.size
    if (size === undefined) return ok(null)
    if (size > fileBytesMax) return err(`it has ${size} octets`)
    if (key === null) return err('it is sealed, and the secret of this node is not set')
    const opened = unseal(key, readFileSync(path, 'utf8').trim())
    if (!opened.ok) return err('it is damaged, or was sealed under another secret')
    return readState(opened.value)
  } catch (error) {
    return err((error as Error).message)
  }
}

/** @param key 32 octets that are in no file of the data directory */
export function createCertificateCopy(path: string, key: Uint8Array, log: Log): CertificateCopy {
  return {
    read: () => {
      const state = readCertificateCopy(path, key)
      if (state.ok) return state.value ?? undefined
      log.warn({ file: path, reason: state.error }, 'the copy of the certificate is not used')
      return undefined
    },
    write: (state) => {
      try {
        writeDurably(path, `${seal(key, printState(state))}\n`, 0o600)
      } catch (error) {
        const { code = '' } = error as NodeJS.ErrnoException
        log.warn({ file: path, code }, 'the copy of the certificate cannot be written')
      }
    },
  }
}
