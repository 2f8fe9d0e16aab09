// Finds a bundle of the past: stored by the node, or compiled again from its commit.
import { existsSync } from 'node:fs'
import { join } from 'node:path'
import type { Bundle } from '#bundle/format/bundle.ts'
import { loadBundle } from '#bundle/load/load.ts'
import { lenientPolicy } from '#settings/check-policy.ts'
import { filesOfCommit } from '#gitops/checkout/git-tree.ts'
import { createCompiler } from '#compiler/compile.ts'
import { CommitGraph } from '#gitops/git/commit-graph.ts'
import { createDiskDriver } from '#gitops/git/disk-driver.ts'
import { mirrorPath, originPath } from '#gitops/thread/options.ts'
import { err, ok } from '#lib/result.ts'
import type { Result } from '#lib/result.ts'
import { BundleStore } from '#server/node/bundle-store.ts'
import type { GenerationHead } from '#journal/format/records.ts'

const commitId = /^[0-9a-f]{40}$/

/** A commit with its author, from the repository. */
export interface CommitDetails {
  readonly id: string
  /** `Name <mail>`; null: there is no repository with the commit. */
  readonly author: string | null
  /** ISO 8601. */
  readonly date: string | null
  readonly subject: string | null
}

export interface PastBundle {
  readonly bundle: Bundle
  readonly from: 'the data directory' | 'the commit, compiled again'
}

/** The bare repositories of a node: its own, or its mirror of a remote. */
export function repositoriesIn(dataDir: string): readonly string[] {
  return [originPath(dataDir), mirrorPath(dataDir)].filter((path) => existsSync(join(path, 'HEAD')))
}

/**
 * @param gitdirs bare repositories, or `.git` of checkouts, that may have the commit
 *
 * @returns errors: what is missing, and how to get it, in sentences
 */
export async function pastBundle(
  dataDir: string,
  gitdirs: readonly string[],
  { digest, commit }: GenerationHead,
): Promise<Result<PastBundle, string>> {
  const stored = storedBundle(dataDir, digest)
  if (stored !== undefined) return ok({ bundle: stored, from: 'the data directory' })
  const what = `the bundle of then, ${digest.slice(0, 12)}, is not kept any more`
  if (commit === '') return err(`${what}, and it was compiled from no commit`)
  const repository = await repositoryWith(gitdirs, commit)
  if (repository === undefined) {
    const here = gitdirs.length === 0 ? 'no repository is here' : 'the repository does not have it'
    return err(
      `${what}, and ${here}: fetch commit ${commit} ("git fetch origin ${commit}" in a clone), ` +
        'and name the clone with --repository',
    )
  }
  const compiled = await compiledCommit(repository, commit)
  if (!compiled.ok) return err(`${what}, and commit ${commit} ${compiled.error}`)
  if (compiled.value.digest !== digest) {
    return err(
      `${what}; commit ${commit} compiles to ${compiled.value.digest.slice(0, 12)} with this ` +
        'version of gslbd, which is another bundle: ask the version that served it then',
    )
  }
  return ok({ bundle: compiled.value, from: 'the commit, compiled again' })
}

function storedBundle(dataDir: string, digest: string): Bundle | undefined {
  if (!/^[0-9a-f]{64}$/.test(digest) || !existsSync(join(dataDir, 'node', 'bundles'))) {
    return undefined
  }
  const bytes = new BundleStore(dataDir).bundle(digest)
  const loaded = bytes.ok ? loadBundle(bytes.value) : undefined
  return loaded?.ok === true && loaded.value.digest === digest ? loaded.value : undefined
}

async function repositoryWith(
  gitdirs: readonly string[],
  commit: string,
): Promise<string | undefined> {
  if (!commitId.test(commit)) return undefined
  for (const gitdir of gitdirs) {
    const found = await new CommitGraph(createDiskDriver(gitdir)).commit(commit)
    if (found.ok) return gitdir
  }
  return undefined
}

/** Errors: a clause about the commit. */
async function compiledCommit(gitdir: string, commit: string): Promise<Result<Bundle, string>> {
  const driver = createDiskDriver(gitdir)
  const at = { driver, graph: new CommitGraph(driver), place: '' }
  const files = await filesOfCommit(at, commit)
  if (!files.ok) return err(`cannot be read: ${files.error}`)
  const result = createCompiler({ checkPolicy: lenientPolicy }).compile(files.value, { commit })
  if (!result.ok) return err('does not compile with this version of gslbd')
  const loaded = loadBundle(result.bundle.bytes)
  return loaded.ok ? loaded : err(`compiles to no bundle: ${loaded.error.message}`)
}

/** Never an error; what is unknown is null. */
export async function commitDetails(
  gitdirs: readonly string[],
  id: string,
): Promise<CommitDetails | null> {
  if (id === '') return null
  for (const gitdir of commitId.test(id) ? gitdirs : []) {
    const found = await new CommitGraph(createDiskDriver(gitdir)).commit(id)
    if (!found.ok) continue
    const { author, subject } = found.value
    return {
      id,
      author: author.name,
      date: new Date(author.seconds * 1_000).toISOString(),
      subject,
    }
  }
  return { id, author: null, date: null, subject: null }
}
