// A temporary directory with the real git and ssh-keygen, isolated from the machine's git settings.
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { onTestFinished } from 'vitest'
import { runProgram } from './run-program.ts'

export interface GitSandbox {
  readonly path: string
  readonly at: (...parts: string[]) => string
  /** Runs git; returns its standard output, trimmed. */
  readonly git: (cwd: string, ...args: string[]) => string
  readonly run: (program: string, args: readonly string[], input?: string | Uint8Array) => string
  readonly write: (path: string, text: string) => string
  /** An Ed25519 key of ssh-keygen, which a test process makes once for each name. */
  readonly sshKey: (name: string) => SandboxKey
  /** Arguments that make git sign with `key`. */
  readonly signWith: (key: SandboxKey) => string[]
}

export interface SandboxKey {
  readonly path: string
  /** `ssh-ed25519 AAAA… comment` */
  readonly publicLine: string
}

export const gitEnvironment: Readonly<Record<string, string>> = {
  GIT_CONFIG_GLOBAL: join(import.meta.dirname, 'gitconfig'),
  GIT_CONFIG_SYSTEM: '/dev/null',
  GIT_AUTHOR_NAME: 'Alice',
  GIT_AUTHOR_EMAIL: 'alice@example.com',
  GIT_COMMITTER_NAME: 'Alice',
  GIT_COMMITTER_EMAIL: 'alice@example.com',
  GIT_TERMINAL_PROMPT: '0',
  LC_ALL: 'C',
}

const keys = new Map<string, readonly [privateKey: Buffer, publicKey: Buffer]>()

/** @param atEnd registers the removal; by default it runs at the end of the test */
export function gitSandbox(atEnd: (remove: () => void) => void = onTestFinished): GitSandbox {
  const path = mkdtempSync(join(tmpdir(), 'gslbd-git-'))
  atEnd(() => rmSync(path, { recursive: true, force: true }))
  const run: GitSandbox['run'] = (program, args, input) =>
    runProgram(program, args, {
      cwd: path,
      env: { PATH: process.env['PATH'], HOME: path, ...gitEnvironment },
      ...(input === undefined ? {} : { input }),
    })
      .toString()
      .trim()
  const at = (...parts: string[]): string => join(path, ...parts)
  const write = (name: string, text: string): string => {
    mkdirSync(dirname(at(name)), { recursive: true })
    writeFileSync(at(name), text)
    return at(name)
  }
  const sshKey = (name: string): SandboxKey => {
    const known = keys.get(name)
    if (known === undefined) {
      const comment = `${name}@example.com`
      run('ssh-keygen', ['-q', '-t', 'ed25519', '-N', '', '-C', comment, '-f', at(name)])
      keys.set(name, [readFileSync(at(name)), readFileSync(at(`${name}.pub`))])
    } else {
      writeFileSync(at(name), known[0], { mode: 0o600 })
      writeFileSync(at(`${name}.pub`), known[1])
    }
    return { path: at(name), publicLine: readFileSync(at(`${name}.pub`), 'utf8').trim() }
  }
  return {
    path,
    at,
    run,
    write,
    sshKey,
    git: (cwd, ...args) => run('git', ['-C', cwd, ...args]),
    signWith: (key) => ['-c', 'gpg.format=ssh', '-c', `user.signingkey=${key.path}`],
  }
}
