// `gslbd check --base`: what a node that accepted a commit would say to what a directory removes.
import { existsSync, realpathSync } from 'node:fs'
import { dirname, join, relative } from 'node:path'
import { createCompiler } from '#compiler/compile.ts'
import type { HealthCheckPolicy } from '#compiler/values/health-check-policy.ts'
import { isRead } from '#compiler/read/layout.ts'
import type { NameOutline } from '#compiler/plan/name-outline.ts'
import type { SourceFile } from '#compiler/read/source.ts'
import { findRepository, resolveCommit } from '#gitops/source/attest.ts'
import { CommitGraph } from '#gitops/git/commit-graph.ts'
import { createDiskDriver } from '#gitops/git/disk-driver.ts'
import type { GitDriver } from '#gitops/git/driver.ts'
import { overrideCommand } from '#gitops/guard/guardrail.ts'
import { removalBetween, wordsOf } from '#gitops/guard/removal.ts'
import { err, ok } from '#lib/result.ts'
import type { Result } from '#lib/result.ts'

export interface Comparison {
  readonly isHeld: boolean
  /** '': there is nothing to say. */
  readonly sentence: string
}

/** @param path of the directory, in a checkout. Errors: a clause. */
export async function compareWithBase(
  path: string,
  base: string,
  after: NameOutline,
  checkPolicy: HealthCheckPolicy,
): Promise<Result<Comparison, string>> {
  const folder = realpathSync(path)
  const found = findRepository(folder)
  if (!found.ok) return err(`--base needs a checkout of git: ${found.error}`)
  const driver = createDiskDriver(found.value.gitdir)
  const commit = await resolveCommit(driver, base)
  if (!commit.ok) return err(`--base: ${commit.error}`)
  const files = await filesOf(driver, commit.value, placeIn(folder))
  if (!files.ok) return err(`--base: ${files.error}`)
  const before = createCompiler({ checkPolicy }).compile(files.value, { commit: '' })
  const hasErrors = `not compared: ${base} has errors itself`
  if (!before.ok) return ok({ isHeld: false, sentence: hasErrors })
  const removal = removalBetween(before.outline(), after)
  if (removal === null) return ok({ isHeld: false, sentence: '' })
  const reason = await overrideSince(driver, commit.value)
  const what = `since ${base} this removes ${wordsOf(removal)}`
  if (reason !== '') return ok({ isHeld: false, sentence: `${what}, as meant: ${reason}` })
  const sentence =
    `guardrail: ${what}. A node would hold it. If that is meant, say so in a commit after ` +
    `the one that removes them: ${overrideCommand}`
  return ok({ isHeld: true, sentence })
}

/** '' at the top of the checkout, else such as `dns/`. */
function placeIn(folder: string): string {
  for (let top = folder; ; top = dirname(top)) {
    if (existsSync(join(top, '.git'))) {
      const place = relative(top, folder).replaceAll('\\', '/')
      return place === '' ? '' : `${place}/`
    }
    if (dirname(top) === top) return ''
  }
}

async function filesOf(
  driver: GitDriver,
  oid: string,
  place: string,
): Promise<Result<readonly SourceFile[], string>> {
  const commit = await new CommitGraph(driver).commit(oid)
  if (!commit.ok) return err(commit.error.reason)
  const tree = await driver.readTree(commit.value.tree)
  if (!tree.ok) return err(tree.error.reason)
  const files: SourceFile[] = []
  for (const { path: whole, oid: blobId, kind } of tree.value) {
    if (!whole.startsWith(place)) continue
    const path = whole.slice(place.length)
    if (kind !== 'file' || !isRead(path)) {
      files.push({ path, blobId, kind, sizeBytes: 0, bytes: null })
      continue
    }
    const blob = await driver.readBlob(blobId)
    if (!blob.ok) return err(blob.error.reason)
    files.push({ path, blobId, kind, sizeBytes: blob.value.length, bytes: blob.value })
  }
  return ok(files)
}

/** What the newest commit since `base` that has the trailer says; '': none has. */
async function overrideSince(driver: GitDriver, base: string): Promise<string> {
  const head = await resolveCommit(driver, 'HEAD')
  if (!head.ok) return ''
  const graph = new CommitGraph(driver)
  const found = await graph.newCommits(base, head.value)
  if (!found.ok) return ''
  for (const oid of found.value.commits.toReversed()) {
    const commit = await graph.commit(oid)
    if (commit.ok && commit.value.override !== '') return commit.value.override
  }
  return ''
}
