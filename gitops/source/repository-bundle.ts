// Writes a whole repository to one file, and restores a repository from it: gitformat-bundle(5).
import { spawn } from 'node:child_process'
import { closeSync, openSync } from 'node:fs'
import { gitLimits } from '#gitops/limits.ts'
import { err, ok } from '#lib/result.ts'
import type { Result } from '#lib/result.ts'
import { makeBareRepository } from './origin.ts'

/** How git is run on a repository. */
interface GitOnDisk {
  /** The PATH on which git is looked for. */
  readonly searchPath: string
  /** Aborts git. */
  readonly stop: AbortSignal
}

/** Why git failed. */
interface GitFailure {
  /** True when there is no git on the PATH. */
  readonly isMissing: boolean
  /** A sentence for people. */
  readonly message: string
}

const messageCharsMax = 500

/**
 * Writes all refs of one moment, and the objects that they reach. Writers may go on meanwhile.
 *
 * @param path a new file, readable by its owner alone
 * @returns false: the repository has no ref, and nothing was written
 */
export async function writeRepositoryBundle(
  gitdir: string,
  path: string,
  git: GitOnDisk,
): Promise<Result<boolean, GitFailure>> {
  const ref = await runGit(gitdir, ['for-each-ref', '--count=1'], git)
  if (!ref.ok) return ref
  if (ref.value === '') return ok(false)
  const file = openSync(path, 'w', 0o600)
  try {
    const words = ['-c', 'pack.threads=1', 'bundle', 'create', '-q', '-', '--all']
    const written = await runGit(gitdir, words, git, file)
    return written.ok ? ok(true) : written
  } finally {
    closeSync(file)
  }
}

/** Makes the bare repository `gitdir` with the refs of a bundle; `branch` becomes its HEAD. */
export async function readRepositoryBundle(
  path: string,
  gitdir: string,
  branch: string,
  git: GitOnDisk,
): Promise<Result<null, GitFailure>> {
  makeBareRepository(gitdir, branch)
  const fetched = await runGit(gitdir, ['fetch', '-q', path, '+refs/*:refs/*'], git)
  return fetched.ok ? ok(null) : fetched
}

/**
 * Runs git.
 *
 * @returns its output, unless that goes to a file
 */
function runGit(
  gitdir: string,
  words: readonly string[],
  { searchPath, stop }: GitOnDisk,
  out: number | 'pipe' = 'pipe',
): Promise<Result<string, GitFailure>> {
  const child = spawn('git', ['--git-dir', gitdir, ...words], {
    stdio: ['ignore', out, 'pipe'],
    signal: AbortSignal.any([stop, AbortSignal.timeout(gitLimits.bundleMs)]),
    // Only settings of the repository count, not those of the machine or a person.
    env: {
      PATH: searchPath,
      LC_ALL: 'C',
      GIT_CONFIG_NOSYSTEM: '1',
      GIT_CONFIG_GLOBAL: '/dev/null',
    },
  })
  let [printed, said] = ['', '']
  const added = (text: string, more: string): string => `${text}${more}`.slice(0, messageCharsMax)
  child.stdout?.setEncoding('utf8').on('data', (text: string) => (printed = added(printed, text)))
  child.stderr?.setEncoding('utf8').on('data', (text: string) => (said = added(said, text)))
  return new Promise((resolve) => {
    child.once('error', ({ code = '' }: NodeJS.ErrnoException) => {
      const isMissing = code === 'ENOENT'
      const why = isMissing ? 'there is no git on this machine (PATH)' : `git cannot start: ${code}`
      resolve(err({ isMissing, message: why }))
    })
    child.once('close', (code) => {
      const message = `git ${words.join(' ')} in ${gitdir}: ${said.trim().split('\n', 1)[0] ?? ''}`
      resolve(code === 0 ? ok(printed) : err({ isMissing: false, message }))
    })
  })
}
