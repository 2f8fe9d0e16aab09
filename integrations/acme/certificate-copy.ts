// The sealed copy of the certificate in the data directory: with it a node serves without the
// database or the control node that it came from.
import type { Log } from '#lib/log.ts'
import { ok } from '#lib/result.ts'
import type { Result } from '#lib/result.ts'
import { readSealedFile, writeSealedFile } from '#lib/secret-box.ts'
import { acmeStateLimits, printState, readState } from './acme-state.ts'
import type { AcmeState } from './acme-state.ts'

/** In the data directory. */
export const certificateCopyFile = 'certificates.copy'

export interface CertificateCopy {
  /** undefined: there is no readable copy. */
  readonly read: () => AcmeState | undefined
  /** Failures are logged. */
  readonly write: (state: AcmeState) => void
}

const fileBytesMax = acmeStateLimits.textMax * 6

/** @returns null: there is no copy. Errors: a sentence without its full stop */
function readCertificateCopy(
  path: string,
  key: Uint8Array | null,
): Result<AcmeState | null, string> {
  const text = readSealedFile(path, key, fileBytesMax)
  if (!text.ok) return text
  return text.value === null ? ok(null) : readState(text.value)
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
        writeSealedFile(path, key, printState(state))
      } catch (error) {
        const { code = '' } = error as NodeJS.ErrnoException
        log.warn({ file: path, code }, 'the copy of the certificate cannot be written')
      }
    },
  }
}
