// Says by which header a source knows this node; secrets come from the environment alone.
import { err, ok } from '#lib/result.ts'
import type { Result } from '#lib/result.ts'
import type { KindParts, SourceSettings } from './kind.ts'

type Headers = Readonly<Record<string, string>>

/** A bearer token, or a name and a password. Errors: a sentence without the secret. */
export function credentialsOf(
  { user }: Pick<SourceSettings, 'user'>,
  { secret }: Pick<KindParts, 'secret'>,
): Result<Headers, string> {
  const token = secret('TOKEN')
  if (!token.ok) return token
  if (token.value !== undefined) return ok({ authorization: `Bearer ${token.value}` })
  if (user === '') return ok({})
  const password = secret('PASSWORD')
  if (!password.ok) return password
  const login = Buffer.from(`${user}:${password.value ?? ''}`).toString('base64')
  return ok({ authorization: `Basic ${login}` })
}

/** The name of the variable; with `_FILE` behind it, of the one that names a file. */
function secretVariable(source: string, what: 'TOKEN' | 'PASSWORD'): string {
  return `GSLB_DISCOVERY_${source.toUpperCase().replaceAll('-', '_')}_${what}`
}

/**
 * @param readFile throws
 * @returns undefined: neither variable is set
 */
export function secretOf(
  source: string,
  what: 'TOKEN' | 'PASSWORD',
  env: NodeJS.ProcessEnv,
  readFile: (path: string) => string,
): Result<string | undefined, string> {
  return secretIn(secretVariable(source, what), env, readFile)
}

/**
 * The secret in a variable, or in the file that the variable with `_FILE` behind its name names.
 *
 * @param readFile throws
 *
 * @returns undefined: neither variable is set. Errors: a sentence without the secret.
 */
export function secretIn(
  name: string,
  env: NodeJS.ProcessEnv,
  readFile: (path: string) => string,
): Result<string | undefined, string> {
  const path = env[`${name}_FILE`] ?? ''
  let value = env[name]
  try {
    if ((value ?? '') === '' && path !== '') value = readFile(path).trimEnd()
  } catch (error) {
    const { code = 'it cannot be read' } = error as NodeJS.ErrnoException
    return err(`the file that ${name}_FILE names cannot be read: ${code}`)
  }
  if (value === undefined || value === '') return ok(undefined)
  return /^[ -~]{1,4096}$/.test(value) ? ok(value) : err(`${name} is not printable ASCII`)
}
