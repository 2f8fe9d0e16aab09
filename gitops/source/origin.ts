// Creates and opens the local bare repository that is the origin when no remote is set.
import { existsSync, mkdirSync, renameSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { err, ok } from '#lib/result.ts'
import type { Result } from '#lib/result.ts'
import { formatCommit } from '#gitops/git/objects/commit-object.ts'
import type { Identity } from '#gitops/git/objects/commit-object.ts'
import type { GitDriver } from '#gitops/git/objects/driver.ts'
import { formatFault } from '#gitops/git/repository-format.ts'
import type { SshPrivateKey } from '#gitops/trust/openssh-key.ts'
import { makeSshSignature } from '#gitops/trust/sshsig.ts'

/**
 * The file that `git init --bare` writes, and two settings that suit the origin of a configuration.
 */
const config = `[core]
\trepositoryformatversion = 0
\tfilemode = true
\tbare = true
[receive]
\tdenyNonFastForwards = true
\tfsckObjects = true
`

/** Makes the repository `gitdir` unless it exists. Errors: a sentence. */
export function ensureOrigin(gitdir: string, branch: string): Result<'made' | 'found', string> {
  if (existsSync(gitdir)) {
    const found = findGitdir(gitdir)
    return found.ok ? ok('found') : found
  }
  const unfinished = `${gitdir}.${process.pid}.tmp`
  try {
    makeBareRepository(unfinished, branch)
    // The rename comes last: a crash leaves a `.tmp` folder, never half an origin.
    renameSync(unfinished, gitdir)
  } catch (error) {
    rmSync(unfinished, { recursive: true, force: true })
    return err(`The repository ${gitdir} cannot be made: ${(error as Error).message}.`)
  }
  return ok('made')
}

/** @throws the file system's error. */
export function makeBareRepository(gitdir: string, branch: string): void {
  for (const folder of ['objects/info', 'objects/pack', 'refs/heads', 'refs/tags', 'info']) {
    mkdirSync(join(gitdir, folder), { recursive: true })
  }
  writeFileSync(join(gitdir, 'HEAD'), `ref: refs/heads/${branch}\n`)
  writeFileSync(join(gitdir, 'config'), config)
  writeFileSync(join(gitdir, 'description'), 'gslbd configuration\n')
}

/** Finds the Git directory of a bare repository or a checkout. Errors: a sentence. */
export function findGitdir(path: string): Result<string, string> {
  const dotGit = join(path, '.git')
  try {
    if (statSync(dotGit, { throwIfNoEntry: false })?.isFile() === true) {
      return err(`${path} is a linked work tree; name the repository that it belongs to.`)
    }
    for (const candidate of [dotGit, path]) {
      if (!isThere(join(candidate, 'HEAD')) || !isThere(join(candidate, 'objects'))) continue
      const fault = isThere(join(candidate, 'config')) ? formatFault(candidate) : undefined
      return fault === undefined ? ok(candidate) : err(fault)
    }
  } catch (error) {
    return err(`${path} cannot be read: ${(error as Error).message}. Check its owner and mode.`)
  }
  return err(`${path} is not a Git repository: it has no HEAD and no objects folder.`)
}

/** @throws when the file system does not tell: `existsSync` would say no */
const isThere = (path: string): boolean => statSync(path, { throwIfNoEntry: false }) !== undefined

interface Commit {
  readonly branch: string
  /** The commit that the branch must still be at; null for the first. */
  readonly parent: string | null
  /** Id of the whole tree of the new commit. */
  readonly tree: string
  readonly author: Identity
  readonly committer: Identity
  readonly message: string
}

/** Writes a signed commit, and moves the branch to it unless that fails. Errors: a sentence. */
export async function commitSigned(
  driver: GitDriver,
  commit: Commit,
  key: SshPrivateKey,
): Promise<Result<string, string>> {
  const draft = { ...commit, parents: commit.parent === null ? [] : [commit.parent] }
  const raw = formatCommit(draft, (payload) => makeSshSignature(payload, 'git', key))
  const oid = driver.writeObject('commit', raw)
  const moved = await driver.moveRef(`refs/heads/${commit.branch}`, commit.parent, oid)
  return moved.ok ? ok(oid) : err(`The commit was not published: ${moved.error.reason}.`)
}

interface Seed {
  readonly branch: string
  readonly files: ReadonlyMap<string, Uint8Array>
  readonly message: string
  readonly author: Identity
}

/**
 * Makes the first commit of an empty origin. Errors: a sentence, when the branch exists already.
 */
export async function seedRepository(
  driver: GitDriver,
  { branch, files, message, author }: Seed,
  key: SshPrivateKey,
): Promise<Result<string, string>> {
  const tree = await driver.writeFiles(null, files)
  if (!tree.ok) return err(tree.error.reason)
  const commit = { branch, parent: null, tree: tree.value, author, committer: author, message }
  return commitSigned(driver, commit, key)
}
