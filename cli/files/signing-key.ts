// Finds the private key that a person signs with: the named one, or the one that git uses.
import { spawnSync } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { dirname, isAbsolute, resolve } from 'node:path'
import { parsePrivateKey, parsePublicKeyLine } from '#gitops/trust/openssh-key.ts'
import type { SshPrivateKey } from '#gitops/trust/openssh-key.ts'
import { err, ok } from '#lib/result.ts'
import type { Result } from '#lib/result.ts'
import type { Io } from '#system/process/command.ts'

interface SigningKeyFile {
  readonly path: string
  readonly key: SshPrivateKey
}

interface SigningKeyQuery {
  /** As given on the command line: the private key, or the public one beside it. */
  readonly named: string | undefined
  /** The repository whose settings tell, with the person's, which key git uses. */
  readonly gitdir: string
  /** True: there is no checkout. */
  readonly isBare: boolean
  readonly env: Io['env']
}

/** Long for reading three files; a hanging home directory is not waited for. */
const gitPatienceMs = 10_000

const otherwise = 'name the file of a key with --key, or make one with "gslbd keygen"'

/**
 * The key of --key, else the one that git uses, and never another: signers have to know their
 * identity. Errors: a sentence that says what to do.
 */
export function findSigningKey(query: SigningKeyQuery): Result<SigningKeyFile, string> {
  const { named } = query
  if (named !== undefined) return readKey(resolve(named), '--key')
  const configured = keyOfGit(query)
  return configured.ok ? readKey(configured.value, 'user.signingkey of git') : configured
}

/** Finds the key as `sign_buffer_ssh` of git does. Errors: a sentence. */
function keyOfGit({ gitdir, isBare, env }: SigningKeyQuery): Result<string, string> {
  const settings: string[] = []
  for (const name of ['gpg.format', 'user.signingkey']) {
    const found = gitSetting(name, gitdir, env)
    if (!found.ok) return err(`${found.error}, so that its key is not known; ${otherwise}`)
    settings.push(found.value)
  }
  const [format = '', configured = ''] = settings
  if (format !== 'ssh') {
    const how = format === '' ? 'has no gpg.format' : `has gpg.format ${format.slice(0, 40)}`
    return err(`git does not sign with SSH here: it ${how}, not ssh; ${otherwise}`)
  }
  if (configured === '') return err(`git has no user.signingkey here; ${otherwise}`)
  if (/^(?:key::|ssh-)/.test(configured)) {
    return err(
      'user.signingkey of git is a public key itself, whose private half is in an agent, which ' +
        `is not asked; ${otherwise}`,
    )
  }
  // git signs at the top of a checkout, from wherever it was called.
  if (!isBare) return ok(resolve(dirname(gitdir), configured))
  if (isAbsolute(configured)) return ok(configured)
  return err(
    `user.signingkey of git is "${configured}", which without a checkout is relative to no ` +
      `folder; ${otherwise}`,
  )
}

/**
 * Asks git, since a setting may be the repository's, the person's or the machine's. Errors: a
 * clause.
 *
 * @returns '' when it is not set
 */
function gitSetting(name: string, gitdir: string, env: Io['env']): Result<string, string> {
  const args = ['--git-dir', gitdir, 'config', '--type=path', '--get', name]
  const { error, status, stdout, stderr } = spawnSync('git', args, {
    env: { ...env },
    encoding: 'utf8',
    stdio: ['ignore', 'pipe', 'pipe'],
    timeout: gitPatienceMs,
  })
  if (error !== undefined) return err(`git cannot be asked what it signs with (${error.message})`)
  if (status === 0) return ok(stdout.replace(/\n$/, ''))
  // Exit code of git config(1) for a setting that is not set.
  if (status === 1) return ok('')
  const [said = ''] = stderr.split('\n', 1)
  return err(`git cannot say what it signs with (${said.replace(/\p{Cc}/gu, '?').slice(0, 200)})`)
}

/** git accepts either file of a pair, which are beside each other. */
function readKey(named: string, from: string): Result<SigningKeyFile, string> {
  const isPublic = named.endsWith('.pub')
  const path = isPublic ? named.slice(0, -'.pub'.length) : named
  const wrong = (problem: string): Result<SigningKeyFile, string> =>
    err(`${path} (${from}): ${problem}; ${otherwise}`)
  try {
    const key = parsePrivateKey(readFileSync(path, 'utf8'))
    if (!key.ok) return wrong(key.error)
    const line = isPublic ? parsePublicKeyLine(readFileSync(named, 'utf8')) : undefined
    if (line?.ok === false) return wrong(`${named} is no public key: ${line.error}`)
    const isPair = line === undefined || line.value.publicKey.raw.equals(key.value.publicKey.raw)
    return isPair
      ? ok({ path, key: key.value })
      : wrong(`it is not the private half of ${named}, with which git signs by an agent`)
  } catch (error) {
    return wrong(`the key cannot be read: ${(error as Error).message}`)
  }
}
