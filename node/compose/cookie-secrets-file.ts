// Reads the file of secrets for DNS cookies that several servers share.
import { readFileSync, statSync } from 'node:fs'
import { secretBytes } from '#answer/cookies/secret-cells.ts'
import { err, ok } from '#lib/result.ts'
import type { Result } from '#lib/result.ts'

const fileBytesMax = 4_096
const secretsMax = 2
const form =
  `${secretBytes * 2} hexadecimal digits; ` + `make one with: openssl rand -hex ${secretBytes}`

/**
 * @returns one secret or two; new cookies use the first. Errors: a sentence with the place, and
 * never a secret
 */
export function readCookieSecrets(path: string): Result<readonly Uint8Array[], string> {
  try {
    const { size, mode } = statSync(path)
    if (size > fileBytesMax) return err(`${path} has ${size} octets, which is too much`)
    if ((mode & 0o007) !== 0) return err(`${path} is open to all users: chmod o-rwx ${path}`)
    const secrets = parseCookieSecrets(readFileSync(path, 'utf8'))
    return secrets.ok ? secrets : err(`${path}${secrets.error}`)
  } catch (error) {
    const { code = '' } = error as NodeJS.ErrnoException
    if (code !== 'ENOENT') return err(`${path} cannot be read (${code})`)
    return err(`there is no file ${path}; write a line of ${form}`)
  }
}

/** Parses lines of hexadecimal digits; a `#` begins a comment. Errors: `:LINE: ` and why. */
export function parseCookieSecrets(text: string): Result<readonly Uint8Array[], string> {
  const secrets: Uint8Array[] = []
  for (const [i, line] of text.split('\n').entries()) {
    const digits = line.replace(/#.*/, '').trim()
    if (digits === '') continue
    if (digits.length !== secretBytes * 2 || !/^[0-9a-f]+$/i.test(digits)) {
      return err(`:${i + 1}: a line has ${form}`)
    }
    if (secrets.length === secretsMax) {
      return err(`:${i + 1}: one secret makes cookies, and one more is believed; take this one out`)
    }
    secrets.push(Uint8Array.from(Buffer.from(digits, 'hex')))
  }
  return secrets.length > 0 ? ok(secrets) : err(`: it has no secret; write a line of ${form}`)
}
