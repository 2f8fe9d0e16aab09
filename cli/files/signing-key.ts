// Finds the private key that a person signs with: the named one, Git's signing key, or OpenSSH's
// default.
import { execFileSync } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { homedir } from 'node:os'
import { join, resolve } from 'node:path'
import { parsePrivateKey } from '#gitops/trust/openssh-key.ts'
import type { SshPrivateKey } from '#gitops/trust/openssh-key.ts'
import { err, ok } from '#lib/result.ts'
import type { Result } from '#lib/result.ts'
import { variable } from '#cli/terminal/command.ts'
import type { Io } from '#cli/terminal/command.ts'

export interface SigningKeyFile {
  readonly path: string
  readonly key: SshPrivateKey
}

export interface SigningKeyQuery {
  /** As given on the command line: the private key's file, or the public one beside it. */
  readonly named: string | undefined
  /** The repository whose settings, with those of the person, say what Git signs with. */
  readonly gitdir: string
  readonly env: Io['env']
}

/** Long for a program that reads three files; a hanging home directory is not waited for. */
const gitPatienceMs = 10_000

/** Errors: a sentence with every file that was tried, and what to do. */
export function findSigningKey(query: SigningKeyQuery): Result<SigningKeyFile, string> {
  const tried: string[] = []
  for (const { path, from } of candidates(query)) {
    const key = readKey(path)
    if (key.ok) return ok({ path, key: key.value })
    tried.push(`${path} (${from}): ${key.error}`)
  }
  return err(`${tried.join('; ')}; name a key with --key, or make one with "gslbd keygen"`)
}

interface Candidate {
  readonly path: string
  readonly from: string
}

function candidates({ named, gitdir, env }: SigningKeyQuery): readonly Candidate[] {
  if (named !== undefined) return [{ path: privateFileOf(named), from: '--key' }]
  const home = variable(env, 'HOME') ?? homedir()
  const usual = { path: join(home, '.ssh', 'id_ed25519'), from: 'the usual key of OpenSSH' }
  if (gitSetting('gpg.format', gitdir, env) !== 'ssh') return [usual]
  const configured = gitSetting('user.signingkey', gitdir, env)
  // Git takes a public key itself, too: its private half is in an agent, not in a file.
  if (configured === undefined || /^(?:key::|ssh-)/.test(configured)) return [usual]
  return [{ path: privateFileOf(configured), from: 'user.signingkey of git' }, usual]
}

/** Git is content with either file of a pair; both lie side by side. */
function privateFileOf(path: string): string {
  return resolve(path.endsWith('.pub') ? path.slice(0, -'.pub'.length) : path)
}

/** Asked of git itself: a setting may be the repository's, the person's or the machine's. */
function gitSetting(name: string, gitdir: string, env: Io['env']): string | undefined {
  const args = ['--git-dir', gitdir, 'config', '--type=path', '--get', name]
  try {
    const text = execFileSync('git', args, {
      env: { ...env },
      encoding: 'utf8',
      stdio: ['ignore', 'pipe', 'ignore'],
      timeout: gitPatienceMs,
    })
    return text.trim()
  } catch {
    // Not set, or no git here: an attestation can be made without either.
    return undefined
  }
}

function readKey(path: string): Result<SshPrivateKey, string> {
  try {
    return parsePrivateKey(readFileSync(path, 'utf8'))
  } catch (error) {
    return err(`the key cannot be read: ${(error as Error).message}`)
  }
}
