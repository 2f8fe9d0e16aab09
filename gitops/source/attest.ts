// Makes an attestation in a person's repository: finds the commit, signs, stores the ref.
import fs, { existsSync, readFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import git from 'isomorphic-git'
import { err, ok } from '#lib/result.ts'
import type { Result } from '#lib/result.ts'
import { digestOfTree } from '#gitops/trust/accept.ts'
import { attestationRefPrefix, makeAttestation } from '#gitops/trust/attestation.ts'
import { CommitGraph } from '#gitops/git/commit-graph.ts'
import type { GitDriver } from '#gitops/git/objects/driver.ts'
import type { SshPrivateKey } from '#gitops/trust/openssh-key.ts'
import { findGitdir } from './origin.ts'

/**
 * A repository from anywhere inside its checkout, as git finds it. Errors: a sentence.
 *
 * @returns `isBare`: there is no checkout, so the refs made here are where they belong
 */
export function findRepository(path: string): Result<{ gitdir: string; isBare: boolean }, string> {
  let folder = path
  let problem = ''
  for (;;) {
    const found = findGitdir(folder)
    if (found.ok) return ok({ gitdir: found.value, isBare: isBare(found.value) })
    problem ||= found.error
    // A repository that is not read here ends the search: what lies above is another one.
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

const stepsMax = 10_000

/**
 * @param name a full or short object id, `HEAD`, a branch or a tag, and steps such as `~2` or `^`
 *   behind it (gitrevisions(7)). Errors: a sentence.
 */
export async function resolveCommit(
  driver: GitDriver,
  name: string,
): Promise<Result<string, string>> {
  const { gitdir } = driver
  const [, base = '', steps = ''] = /^([^~^]*)((?:[~^]\d*)*)$/.exec(name) ?? []
  const start = await startOf(gitdir, base)
  if (start === undefined) {
    return err(
      `"${name}" is not a commit of ${gitdir}; give a commit id, HEAD, a branch or a tag, with ` +
        '~N for its Nth ancestor',
    )
  }
  const graph = new CommitGraph(driver)
  let oid = start
  for (const [, sign, digits = ''] of steps.matchAll(/([~^])(\d*)/g)) {
    const n = digits === '' ? 1 : Number(digits)
    if (n > stepsMax) return err(`"${name}" goes back further than ${stepsMax} commits`)
    const parents = sign === '~' ? Array<number>(n).fill(1) : n === 0 ? [] : [n]
    for (const which of parents) {
      const commit = await graph.commit(oid)
      if (!commit.ok) return err(commit.error.reason)
      const parent = commit.value.parents[which - 1]
      if (parent === undefined) return err(`"${name}" goes back beyond the first commit`)
      oid = parent
    }
  }
  return ok(oid)
}

/** @returns the commit; undefined when there is none, or more than one. */
async function startOf(gitdir: string, name: string): Promise<string | undefined> {
  try {
    const oid = /^[0-9a-f]{4,39}$/.test(name)
      ? await git.expandOid({ fs, gitdir, oid: name })
      : await git.resolveRef({ fs, gitdir, ref: name })
    // A tag with a message is an object of its own that names the commit.
    return (await git.readCommit({ fs, gitdir, oid })).oid
  } catch {
    return undefined
  }
}

/**
 * @returns the ref that now holds the attestation; one that was there is replaced. Errors: a
 * sentence.
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
