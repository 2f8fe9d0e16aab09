// Reads the configuration of a commit from the checkout that a directory is in.
import { existsSync, readFileSync, realpathSync } from 'node:fs'
import { dirname, join, relative } from 'node:path'
import { bundleLimits } from '#bundle/format/limits.ts'
import type { SourceFile } from '#compiler/read/source.ts'
import { CommitGraph } from '#gitops/git/commit-graph.ts'
import { createDiskDriver } from '#gitops/git/disk-driver.ts'
import type { GitDriver } from '#gitops/git/objects/driver.ts'
import { readFiles } from '#gitops/sync/compile-port.ts'
import { findRepository, resolveCommit } from '#gitops/source/attest.ts'
import { err, ok } from '#lib/result.ts'
import type { Result } from '#lib/result.ts'
import { folderFault } from './config-directory.ts'

/** A repository, and the folder of its trees that holds the configuration. */
export interface GitPlace {
  readonly driver: GitDriver
  readonly graph: CommitGraph
  /** '' at the top of the checkout, else such as `dns/`. */
  readonly place: string
  /** True when the clone lacks a part of the history. */
  readonly isShallow: boolean
  /** Name of the remote that it was cloned from; '' when it has no remote. */
  readonly remote: string
  /** The PATH on which git is looked for. */
  readonly searchPath: string
}

/**
 * @param path of a directory
 *
 * @param searchPath the PATH on which git is looked for. Errors: a clause
 */
export function openGitPlace(path: string, searchPath: string): Result<GitPlace, string> {
  const fault = folderFault(path)
  if (fault !== undefined) return err(fault)
  const folder = realpathSync(path)
  const found = findRepository(folder)
  if (!found.ok) return found
  const { gitdir } = found.value
  const driver = createDiskDriver(gitdir)
  const isShallow = existsSync(join(gitdir, 'shallow'))
  const remote = remoteOf(gitdir)
  const graph = new CommitGraph(driver)
  return ok({ driver, graph, place: placeIn(folder), isShallow, remote, searchPath })
}

function remoteOf(gitdir: string): string {
  const path = join(gitdir, 'config')
  const config = existsSync(path) ? readFileSync(path, 'utf8') : ''
  const names = Array.from(config.matchAll(/^\s*\[remote "([\w.-]+)"\]/gm), ([, name = '']) => name)
  return names.includes('origin') ? 'origin' : (names[0] ?? '')
}

/** Finds a commit that the repository has. Errors: a sentence. */
export async function commitNamed(place: GitPlace, ref: string): Promise<Result<string, string>> {
  const { driver, graph, remote, searchPath } = place
  const known = ref === 'HEAD' ? headOf(driver) : ref
  if (known !== null && /^[0-9a-f]{40}$/.test(known)) {
    // An object id of a tag goes on: git follows it.
    const found = await graph.commit(known)
    if (found.ok) return ok(known)
  }
  const named = resolveCommit(driver, ref, searchPath)
  const commit = named.ok ? await graph.commit(named.value) : named
  if (named.ok && commit.ok) return named
  const fault = named.ok ? `"${ref}" is ${named.value}, which is not here` : named.error
  // A branch that was fetched is known by the name of its remote, too.
  const there = `${remote}/${ref}`
  if (driver.readRef(`refs/remotes/${there}`) !== null) {
    return err(`${fault}; did you mean "${there}"?`)
  }
  const why = fault.replace(/\.$/, '')
  return err(place.isShallow ? `${why}; the clone is shallow: ${unshallowAdvice(place)}` : fault)
}

/** The commit of the branch that is checked out; most questions are about it. */
function headOf(driver: GitDriver): string | null {
  const path = join(driver.gitdir, 'HEAD')
  const [, ref] =
    (existsSync(path) && /^ref: (refs\/\S+)\n?$/.exec(readFileSync(path, 'utf8'))) || []
  return ref === undefined ? null : driver.readRef(ref)
}

/**
 * The git command that fetches the missing history of a shallow clone. Such a clone follows one
 * branch, and a single commit more would have nothing in common with it.
 */
export function unshallowAdvice({ remote }: Pick<GitPlace, 'remote'>): string {
  const inJob = '(in a job: checkout with a fetch depth of 0)'
  if (remote === '') return `fetch the rest of the history ${inJob}`
  const all = `'+refs/heads/*:refs/remotes/${remote}/*'`
  return (
    `"git fetch --unshallow --tags ${remote} ${all}" brings all branches and tags with their ` +
    `history ${inJob}`
  )
}

/**
 * Says why two commits cannot be compared when the clone has no common ancestor, and what to do.
 */
export function unrelatedReason(
  place: Pick<GitPlace, 'isShallow' | 'remote'>,
  base: string,
  head: string,
): string {
  return place.isShallow
    ? `the clone is shallow, and ${base} and ${head} have no commit in common in it: ` +
        unshallowAdvice(place)
    : `${base} and ${head} have no commit in common: give two commits of one history`
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

/** The files of a commit that the compiler reads, ready to be compiled. Errors: a sentence. */
export async function filesOfCommit(
  { driver, graph, place }: Pick<GitPlace, 'driver' | 'graph' | 'place'>,
  oid: string,
): Promise<Result<readonly SourceFile[], string>> {
  const commit = await graph.commit(oid)
  if (!commit.ok) return err(commit.error.reason)
  const tree = await driver.readTree(commit.value.tree)
  if (!tree.ok) return err(tree.error.reason)
  const own = tree.value
    .filter(({ path }) => path.startsWith(place))
    .map((entry) => ({ ...entry, path: entry.path.slice(place.length) }))
  const files = await readFiles(driver, own, bundleLimits.configurationBytesMax)
  return files.ok ? files : err(files.error.reason)
}

const ancestorsMax = 50_000

/**
 * How two commits are related: `descends`: the base is in the history of the head; `apart`: both
 * have gone on from a commit that they share; `unrelated`: no commit that is here is in both.
 */
export async function relationOf(
  { graph }: Pick<GitPlace, 'graph'>,
  base: string,
  head: string,
): Promise<'descends' | 'apart' | 'unrelated'> {
  const shared = await mergeBaseOf({ graph }, base, head)
  if (shared === undefined) return 'unrelated'
  return shared === base ? 'descends' : 'apart'
}

/**
 * The newest commit that is in both histories, or is one of the two; undefined: the clone has none.
 */
export async function mergeBaseOf(
  { graph }: Pick<GitPlace, 'graph'>,
  base: string,
  head: string,
): Promise<string | undefined> {
  const ofHead = await ancestorsOf(graph, [head])
  if (ofHead.has(base)) return base
  const shared: string[] = []
  await ancestorsOf(graph, [base], (oid) => {
    const isShared = ofHead.has(oid)
    if (isShared) shared.push(oid)
    return isShared
  })
  // A shared commit is not the newest when another shared one descends from it.
  const parents: string[] = []
  for (const oid of shared) parents.push(...(await parentsOf(graph, oid)))
  const older = await ancestorsOf(graph, parents)
  return shared.find((oid) => !older.has(oid))
}

/** Lists the commits and their ancestors. Commits that a shallow clone lacks are left out. */
async function ancestorsOf(
  graph: CommitGraph,
  heads: readonly string[],
  isEnd: (oid: string) => boolean = () => false,
): Promise<ReadonlySet<string>> {
  const all = new Set(heads)
  for (const oid of all) {
    if (all.size > ancestorsMax) break
    if (isEnd(oid)) continue
    for (const parent of await parentsOf(graph, oid)) all.add(parent)
  }
  return all
}

async function parentsOf(graph: CommitGraph, oid: string): Promise<readonly string[]> {
  const commit = await graph.commit(oid)
  return commit.ok ? commit.value.parents : []
}
