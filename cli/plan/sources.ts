// Finds the two configurations of a plan: commits, directories, bundle files, or a node's active
// one.
import { statSync } from 'node:fs'
import { bundleIn } from '#cli/files/bundle-file.ts'
import { lenientPolicy } from '#settings/check-policy.ts'
import { hasConfiguration, readConfiguration } from '#gitops/checkout/config-directory.ts'
import { blobsOfFiles } from '#gitops/checkout/earlier-commits.ts'
import {
  commitNamed,
  filesOfCommit,
  openGitPlace,
  relationOf,
  unrelatedReason,
  unshallowAdvice,
} from '#gitops/checkout/git-tree.ts'
import type { GitPlace } from '#gitops/checkout/git-tree.ts'
import { activeCommitAt, isUrl } from '#cli/plan/node-facts.ts'
import { CommandFault, Exit, needed } from '#system/process/command.ts'
import type { Io } from '#system/process/command.ts'
import { loadBundle } from '#bundle/load/load.ts'
import type { Bundle } from '#bundle/format/bundle.ts'
import { ReadAhead } from '#cli/files/read-ahead.ts'
import { createCompiler } from '#compiler/compile.ts'
import type { Compiler, CompilerParts } from '#compiler/compile.ts'
import { printErrors } from '#diagnostics/print/text.ts'
import type { MoveLimits } from '#judge/guard/moved-limit.ts'
import type { SourceFile } from '#compiler/read/source.ts'
import type { Blobs } from '#gitops/guard/earlier.ts'
import { shrinkHeap } from '#lib/memory/exposed-collector.ts'
import { collectSooner } from '#lib/memory/heap-growth.ts'
import type { Result } from '#lib/result.ts'
import { searchPath } from '#cli/files/search-path.ts'

export interface FoundSide {
  /** The side as it was asked for. */
  readonly source: string
  readonly bundle: Bundle
  /** Limits in its `gslb.yaml`; a bundle file has none. */
  readonly moveLimits: MoveLimits
  /** Blob ids of its files; null for a bundle file. */
  readonly blobs: Blobs | null
}

interface FoundRevisions {
  readonly base: FoundSide
  readonly head: FoundSide
  /** Sentences about the relation of the two sides. */
  readonly warnings: readonly string[]
}

interface SourceParts {
  /** A directory, in a checkout when a side is a commit. */
  readonly directory: string
  readonly base: string
  /** undefined: the directory itself. */
  readonly head: string | undefined
  readonly nowMs: number
  /** Environment, with the key for a node, and progress. */
  readonly io: Pick<Io, 'env' | 'progress'>
}

/** @throws CommandFault where a side cannot be read, or has errors */
export async function findRevisions(parts: SourceParts): Promise<FoundRevisions> {
  collectSooner()
  const ahead = new ReadAhead()
  try {
    const sides = await revisionsWith(ahead, parts)
    // Compilers leave as much memory as the plan will need.
    if (sides.base.bundle.bytes.length > largeBytes) shrinkHeap('keep')
    return sides
  } finally {
    ahead.close()
  }
}

/** Octets of a bundle; smaller ones leave little, and the time would be noticed. */
const largeBytes = 1_048_576

async function revisionsWith(
  ahead: ReadAhead,
  { directory, base, head, nowMs, io }: SourceParts,
): Promise<FoundRevisions> {
  const finder = new Finder(directory, io.env)
  io.progress?.(`reading ${base}`)
  const one = await finder.find(base, 'base')
  if ('files' in one) ahead.expect(one.files.length)
  io.progress?.(`reading ${head ?? directory}`)
  const other =
    head === undefined ? await finder.directory(directory, 'head') : await finder.find(head, 'head')
  const [was, is] = await revisionsOf([one, other], ahead, io.progress)
  return { base: was, head: is, warnings: await finder.relationWarnings(nowMs) }
}

/** A side as it was found: a bundle, or files. */
type Found = FoundSide | Uncompiled
interface Uncompiled {
  readonly source: string
  readonly side: 'base' | 'head'
  readonly commit: string
  readonly files: readonly SourceFile[]
}

/** Compiles the sides that are files; what they share is read once. */
async function revisionsOf(
  [base, head]: readonly [Found, Found],
  ahead: ReadAhead,
  tell: Io['progress'],
) {
  const compiler = createBundler(tell ?? null)
  const all = [base, head].flatMap((found) => ('files' in found ? found.files : []))
  const read = await ahead.read(all, tell)
  const sideOf = (found: Found): FoundSide => {
    if ('bundle' in found) return found
    for (const { blobId } of found.files) {
      const file = read.get(blobId)
      if (file !== undefined) compiler.learn(file)
    }
    return compiled(compiler, found)
  }
  return [sideOf(base), sideOf(head)] as const
}

class Finder {
  readonly #directory: string
  readonly #env: Io['env']
  /** Warnings about nodes. */
  readonly #warnings: string[] = []
  #place: GitPlace | undefined
  readonly #commits: { readonly ref: string; readonly oid: string }[] = []

  constructor(directory: string, env: Io['env']) {
    this.#directory = directory
    this.#env = env
  }

  /** A path begins with `.` or `/`, or names an existing file; anything else is a commit. */
  async find(source: string, side: 'base' | 'head'): Promise<Found> {
    if (isUrl(source)) return await this.#node(source, side)
    const found = statSync(source, { throwIfNoEntry: false })
    if (found?.isFile() === true) {
      return { source, bundle: bundleIn(source), moveLimits: undefined, blobs: null }
    }
    const isPath = /^\.{0,2}\//.test(source) || /^\.{1,2}$/.test(source)
    if (isPath) return this.directory(source, side)
    return await this.#commit(source, side)
  }

  async directory(path: string, side: 'base' | 'head'): Promise<Uncompiled> {
    const files = needed(await readConfiguration(path), Exit.Usage)
    if (!hasConfiguration(path)) {
      throw new CommandFault(Exit.ErrorsFound, `${path} holds neither gslb.yaml nor tenants/`)
    }
    return { source: path, side, commit: '', files }
  }

  /** The files of the node's active commit come from the checkout. */
  async #node(url: string, side: 'base' | 'head'): Promise<Uncompiled> {
    const { oid, warnings } = given(`--${side}`, await activeCommitAt(url, this.#env))
    this.#warnings.push(...warnings)
    const place = this.#openPlace(`--${side} ${url}`)
    const commit = await place.graph.commit(oid)
    if (!commit.ok) {
      const words = place.isShallow ? unshallowAdvice(place) : '"git fetch" the branch of the node'
      const where = `${url} answers from ${oid}, which this checkout does not have`
      throw new CommandFault(Exit.Usage, `--${side}: ${where}: ${words}`)
    }
    return { ...(await this.#commit(oid, side)), source: url }
  }

  async #commit(ref: string, side: 'base' | 'head'): Promise<Uncompiled> {
    const place = this.#openPlace(`--${side} ${ref}`)
    const oid = given(`--${side}`, await commitNamed(place, ref))
    this.#commits.push({ ref, oid })
    const files = given(`--${side} ${ref}`, await filesOfCommit(place, oid))
    return { source: ref, side, commit: oid, files }
  }

  #openPlace(asked: string): GitPlace {
    this.#place ??= given(asked, openGitPlace(this.#directory, searchPath()))
    return this.#place
  }

  /** To a plan, a head that lacks commits of its base takes them back. */
  async relationWarnings(nowMs: number): Promise<readonly string[]> {
    const [place, commits] = [this.#place, this.#commits]
    const warnings: string[] = [...this.#warnings]
    if (place === undefined) return warnings
    for (const { ref, oid } of commits) {
      const commit = await place.graph.commit(oid)
      const aheadMs = commit.ok ? commit.value.committer.seconds * 1_000 - nowMs : 0
      if (aheadMs > aheadMaxMs) {
        const at = new Date(nowMs + aheadMs).toISOString()
        warnings.push(`${ref} is of ${at}, which is in the future: is this clock right?`)
      }
    }
    const [base, head] = [commits[0], commits[1]]
    const other = head ?? (await this.#headOfCheckout(place))
    if (base === undefined || other === undefined || base.oid === other.oid) return warnings
    const relation = await relationOf(place, base.oid, other.oid)
    if (relation === 'unrelated') {
      const why = unrelatedReason(place, base.ref, other.ref)
      if (!place.isShallow) throw new CommandFault(Exit.Usage, why)
      return [...warnings, why]
    }
    if (relation === 'apart') {
      warnings.push(
        `${other.ref} does not have all of ${base.ref}: what it lacks is shown as taken back; ` +
          'rebase it, or give the merge base as --base',
      )
    }
    return warnings
  }

  async #headOfCheckout(place: GitPlace) {
    const oid = await commitNamed(place, 'HEAD')
    return oid.ok ? { ref: 'HEAD', oid: oid.value } : undefined
  }
}

/** @throws CommandFault that names the option */
function given<T>(asked: string, found: Result<T, string>): T {
  if (found.ok) return found.value
  throw new CommandFault(Exit.Usage, `${asked}: ${found.error}`)
}

interface Bundler extends Pick<Compiler, 'compile' | 'learn'> {
  /** The bundle of the last compilation, loaded as by a node. */
  readonly loaded: () => Bundle | undefined
}

/**
 * Returns a compiler and its loaded bundles: the compiler's self-test has loaded each bundle, so it
 * need not be loaded again.
 */
function createBundler(tell: CompilerParts['tell']): Bundler {
  let loaded: Bundle | undefined
  const compiler = createCompiler({
    checkPolicy: lenientPolicy,
    listsRemarks: false,
    tell,
    load: ({ bytes }, known) => {
      const found = loadBundle(bytes, undefined, known)
      if (!found.ok) return JSON.stringify(found.error)
      return (loaded = found.value)
    },
  })
  return { ...compiler, loaded: () => loaded }
}

function compiled(bundler: Bundler, { source, side, commit, files }: Uncompiled): FoundSide {
  const result = bundler.compile(files, { commit })
  if (!result.ok) {
    const title = `the ${side}, ${source}, has errors, so no answer can be compared`
    throw new CommandFault(Exit.ErrorsFound, `${title}:\n${printErrors(result)}`)
  }
  const { guardrails: moveLimits } = result
  return { source, bundle: bundler.loaded()!, moveLimits, blobs: blobsOfFiles(files) }
}

/** Clocks of two machines differ a little. */
const aheadMaxMs = 5 * 60_000
