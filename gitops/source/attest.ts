// Makes an attestation in a person's repository: finds the commit, signs, stores the ref.
import { spawnSync } from 'node:child_process'
import { existsSync, readFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { err, ok } from '#lib/result.ts'
import type { Result } from '#lib/result.ts'
import { digestOfTree } from '#gitops/trust/accept.ts'
import { attestationRefPrefix, makeAttestation } from '#gitops/trust/attestation.ts'
import { CommitGraph } from '#gitops/git/commit-graph.ts'
import type { GitDriver } from '#gitops/git/objects/driver.ts'
import type { SshPrivateKey } from '#gitops/trust/openssh-key.ts'
import { gitLimits } from '#gitops/limits.ts'
import { gitEnvironment } from './git-program.ts'
import { findGitdir } from './origin.ts'

/**
 * Finds the repository that a path is in, as git does. Errors: a sentence.
 *
 * @returns `isBare`: true when there is no checkout, so that refs made here are where they belong
 */
export function findRepository(path: string): Result<{ gitdir: string; isBare: boolean }, string> {
  let folder = path
  let problem = ''
  for (;;) {
    const found = findGitdir(folder)
    if (found.ok) return ok({ gitdir: found.value, isBare: isBare(found.value) })
    problem ||= found.error
    // A repository of an unreadable form ends the search: what lies above is another repository.
    const isOne = ['.git', 'objects'].some((name) => existsSync(join(folder, name)))
    if (isOne) return err(found.error)
    const parent = dirname(folder)
    if (parent === folder) return err(problem)
    folder = parent
  }
}

function isBare(gitdir: string): boolean {
  try {
    return /^\s*bare\s*=\s*true\s*$/im.test(readFileSync(join(gitdir, 'config'), 'utf8'))
  } catch {
    return false
  }
}

/**
 * Finds the commit that a person means.
 *
 * @param searchPath the PATH on which git is looked for
 * @param name what git takes (gitrevisions(7)): an object id, `HEAD`, a branch or a tag, and steps
 * such as `~2` or `^`. Errors: a sentence.
 */
export function resolveCommit(
  { gitdir }: GitDriver,
  name: string,
  searchPath: string,
): Result<string, string> {
  const question = ['rev-parse', '--verify', '--quiet', '--end-of-options', `${name}^{commit}`]
  // Runs without the repository's settings as far as git allows: it may be a stranger's.
  const asked = spawnSync('git', ['--git-dir', gitdir, ...question], {
    encoding: 'utf8',
    env: gitEnvironment(searchPath, []),
    timeout: gitLimits.revisionMs,
    killSignal: 'SIGKILL',
  })
  if (asked.error !== undefined)
    return err(`git cannot be asked for "${name}" (${asked.error.message})`)
  if (asked.status === 0) return ok(asked.stdout.trim())
  return err(
    `"${name}" is not a commit of ${gitdir}; give a commit id, HEAD, a branch or a tag, with ` +
      '~N for its Nth ancestor',
  )
}

/**
 * Signs an attestation and stores it under its ref, in place of an earlier one. Errors: a sentence.
 *
 * @returns the ref
 */
export async function attestCommit(
  driver: GitDriver,
  oid: string,
  seconds: number,
  key: SshPrivateKey,
): Promise<Result<string, string>> {
  const commit = await new CommitGraph(driver).commit(oid)
  if (!commit.ok) return err(commit.error.reason)
  const digest = await digestOfTree(driver, commit.value.tree)
  if (!digest.ok) return err(digest.error.reason)
  const text = makeAttestation(oid, digest.value, seconds, key)
  const blob = driver.writeObject('blob', Buffer.from(text))
  const ref = attestationRefPrefix + oid
  const moved = await driver.moveRef(ref, driver.readRef(ref), blob)
  return moved.ok ? ok(ref) : err(moved.error.reason)
}
