// Loads the pinned allowed_signers file for each head. If it cannot be read, no signer is trusted.
import { hash } from 'node:crypto'
import { readFileSync, statSync } from 'node:fs'
import { err, ok } from '#lib/result.ts'
import type { Result } from '#lib/result.ts'
import { parseAllowedSigners } from './allowed-signers.ts'
import type { AllowedSigner } from './allowed-signers.ts'
import { gitLimits } from '#gitops/limits.ts'

export interface SignersFile {
  readonly signers: Result<readonly AllowedSigner[], string>
  /** A hash of the content, or of the reason why there is none: it changes with either. */
  readonly version: string
}

/** Reads the file. Errors: sentences that say what to do. With an error no commit passes. */
export function readSigners(path: string): SignersFile {
  const text = readText(path)
  if (!text.ok) return { signers: text, version: text.error }
  const parsed = parseAllowedSigners(text.value)
  return { signers: explained(parsed, path), version: hash('sha256', text.value) }
}

function readText(path: string): Result<string, string> {
  try {
    if (statSync(path).size > gitLimits.allowedSignersBytesMax)
      return err(`${path} is larger than 1 MiB.`)
    return ok(readFileSync(path, 'utf8'))
  } catch (error) {
    const { code, message } = error as NodeJS.ErrnoException
    const remedy =
      code === 'ENOENT'
        ? 'it does not exist. Make it with "gslbd trust add PRINCIPAL PUBKEYFILE".'
        : `${message}. Give the user that gslbd runs as the right to read it.`
    return err(`No commit can be accepted, because ${path} cannot be read: ${remedy}`)
  }
}

function explained(
  parsed: Result<readonly AllowedSigner[], string>,
  path: string,
): Result<readonly AllowedSigner[], string> {
  if (!parsed.ok) {
    return err(
      `No commit can be accepted, because ${path} has an error: ${parsed.error}. Correct it; ` +
        'the node notices the change by itself.',
    )
  }
  if (parsed.value.length > 0) return parsed
  return err(
    `No commit can be accepted, because ${path} lists no Ed25519 key. Add one with "gslbd ` +
      'trust add PRINCIPAL PUBKEYFILE".',
  )
}
