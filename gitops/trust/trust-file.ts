// Edits the pinned allowed_signers file: adds and removes lines, and leaves the rest as written.
import { readFileSync } from 'node:fs'
import { writeDurably } from '#lib/durable-file.ts'
import { err, ok } from '#lib/result.ts'
import type { Result } from '#lib/result.ts'
import {
  findSigner,
  isAllowedFor,
  overrideNamespace,
  parseAllowedSigners,
} from './allowed-signers.ts'
import type { AllowedSigner } from './allowed-signers.ts'
import { formatPublicKeyLine, parsePublicKeyLine } from './openssh-key.ts'

/** The principal of nodes, which sign the commits of their API. */
export const nodePrincipal = 'node@gslbd'

/** Lists the signers. Errors: a clause. */
export function listSigners(path: string): Result<readonly AllowedSigner[], string> {
  const text = readOrEmpty(path)
  return text.ok ? parseAllowedSigners(text.value) : text
}

interface NewSigner {
  /** `alice@example.com` */
  readonly principal: string
  /** `ssh-ed25519 AAAA… comment` */
  readonly publicKeyLine: string
  /** Whether it may say that a change beyond the guardrails is meant. */
  readonly mayOverride?: boolean
  /** When the key must be good for commits, seconds since the epoch: now, as a rule. */
  readonly atSeconds: number
}

/**
 * Adds a line, or the right to override to the line that is there.
 *
 * @returns the line; 'present' when the same person has the key already. Errors: a sentence, also
 * where another line of the key stands before, so that the new one would count for nothing.
 */
export function addSigner(
  path: string,
  { principal, publicKeyLine, mayOverride = false, atSeconds }: NewSigner,
): Result<{ line: string } | 'present', string> {
  if (!/^[A-Za-z0-9._%+@-]{1,200}$/.test(principal)) {
    return err(
      `"${principal}" is not a principal; write an e-mail address or a name without spaces`,
    )
  }
  const key = parsePublicKeyLine(publicKeyLine)
  if (!key.ok) return key
  const text = readOrEmpty(path)
  if (!text.ok) return text
  const signers = parseAllowedSigners(text.value)
  // A file with an error refuses every commit; another line would hide that.
  if (!signers.ok) return err(`${path} has an error: ${signers.error}`)
  const { publicKey, comment } = key.value
  const committerIn = (lines: readonly AllowedSigner[]): Result<AllowedSigner, string> =>
    findSigner(lines, { publicKey, namespace: 'git', atSeconds })
  const present = signers.value.find(
    (signer) => signer.principals === principal && committerIn([signer]).ok,
  )
  // The key is bound to uses of this product, so that its other signatures do not count.
  const uses = ['git', 'gslb-attest', ...(mayOverride ? [overrideNamespace] : [])]
  const options = `namespaces="${uses.join(',')}"`
  const line = `${principal} ${options} ${formatPublicKeyLine(publicKey, comment)}`
  const gap = text.value === '' || text.value.endsWith('\n') ? '' : '\n'
  const after = present === undefined ? `${text.value}${gap}${line}\n` : text.value
  const listed = parseAllowedSigners(after)
  if (!listed.ok) return err(`${path} would have an error: ${listed.error}`)
  const committer = committerIn(listed.value)
  if (!committer.ok) {
    return err(
      `${principal} could not sign commits: ${committer.error}; take the lines of this key away ` +
        `first: gslbd trust remove ${publicKey.fingerprint}`,
    )
  }
  if (present === undefined) return written(path, after, { line })
  if (!mayOverride || isAllowedFor(present, overrideNamespace)) return ok('present')
  return widen(path, text.value, present)
}

/** Adds the right to override to the line of a signer. */
function widen(
  path: string,
  text: string,
  { line: number, publicKey }: AllowedSigner,
): Result<{ line: string }, string> {
  const lines = text.split('\n')
  const line = lines[number - 1]!.replace(/(namespaces="[^"]*)"/i, `$1,${overrideNamespace}"`)
  const widened = parseAllowedSigners(`${line}\n`)
  const [signer] = widened.ok ? widened.value : []
  const isRight =
    signer?.publicKey.raw.equals(publicKey.raw) === true && isAllowedFor(signer, overrideNamespace)
  if (!isRight) {
    return err(
      `line ${number} of ${path} has namespaces that this does not extend: ` +
        `write "${overrideNamespace}" among them`,
    )
  }
  return written(path, lines.with(number - 1, line).join('\n'), { line })
}

function written<T>(path: string, text: string, outcome: T): Result<T, string> {
  try {
    writeDurably(path, text)
  } catch (error) {
    return err(`${path} cannot be written: ${(error as Error).message}`)
  }
  return ok(outcome)
}

/**
 * Removes exactly the lines that `isMeant` selects.
 *
 * @returns what was removed, and how many Ed25519 keys are left. Errors: a sentence.
 */
export function removeSigners(
  path: string,
  isMeant: (signer: AllowedSigner) => boolean,
): Result<{ readonly removed: readonly AllowedSigner[]; readonly left: number }, string> {
  const text = readOrEmpty(path)
  if (!text.ok) return text
  const signers = parseAllowedSigners(text.value)
  if (!signers.ok) return err(`${path} has an error: ${signers.error}`)
  const removed = signers.value.filter(isMeant)
  const left = signers.value.length - removed.length
  if (removed.length === 0) return ok({ removed, left })
  const gone = new Set(removed.map(({ line }) => line))
  const kept = text.value.split('\n').filter((_line, index) => !gone.has(index + 1))
  return written(path, kept.join('\n'), { removed, left })
}

function readOrEmpty(path: string): Result<string, string> {
  try {
    return ok(readFileSync(path, 'utf8'))
  } catch (error) {
    const { code, message } = error as NodeJS.ErrnoException
    return code === 'ENOENT' ? ok('') : err(`${path} cannot be read: ${message}`)
  }
}
