// Checks each commit of a head against the guardrails, the same on every node.
import type { NameOutline } from '#compiler/plan/name-outline.ts'
import { overrideNamespace } from '#gitops/trust/allowed-signers.ts'
import { short } from '#gitops/trust/accept.ts'
import { overrideTrailer } from '#gitops/git/objects/commit-object.ts'
import type { CommitGraph } from '#gitops/git/commit-graph.ts'
import { gitLimits } from '#gitops/limits.ts'
import { breachBetween } from './breach.ts'
import type { Breach } from './breach.ts'

export interface GuardParts {
  readonly graph: CommitGraph
  /** Of the accepted commit. */
  readonly accepted: { readonly commit: string; readonly outline: NameOutline }
  readonly head: { readonly commit: string; readonly outline: NameOutline }
  /** What `head` brings. */
  readonly commits: readonly string[]
  /** Signed by a node: the API made it, and judged it then. */
  readonly isOfApi: (commit: string) => boolean
  /** Its signer may say that what is beyond the guardrails is meant. */
  readonly mayOverride: (commit: string) => boolean
  /** Of a commit between the two; undefined: it has errors, or cannot be read. */
  readonly outlineOf: (commit: string) => Promise<NameOutline | undefined>
}

export interface GuardedCommit {
  readonly commit: string
  readonly breach: Breach
  /** A commit that says that it is meant, by somebody who may not; '': there is none. */
  readonly vainOverride: string
}

/**
 * The first commit that alters too much, and that nobody vouches for; undefined: there is none. A
 * commit of the API was judged when it was made, request by request: a node that saw many of them
 * together must not take them for one.
 */
export async function findBreach(parts: GuardParts): Promise<GuardedCommit | undefined> {
  const { accepted, head } = parts
  if (breachBetween(accepted.outline, head.outline) === undefined) return undefined
  const { line, vainOverride } = await mainLine(parts)
  const found = await new Judge(parts, line).judgeAll()
  return found && { ...found, vainOverride }
}

type FoundBreach = Omit<GuardedCommit, 'vainOverride'>

interface LinePoint {
  readonly commit: string
  readonly isOfApi: boolean
  /** It, or a commit that it merges, says that what was done up to here is meant. */
  readonly isOverride: boolean
}

/** Positions are those of the line; -1 is the accepted commit. */
class Judge {
  readonly #parts: GuardParts
  readonly #line: readonly LinePoint[]
  readonly #known = new Map<number, NameOutline | undefined>()
  #looksLeft: number = gitLimits.guardLooksMax

  constructor(parts: GuardParts, line: readonly LinePoint[]) {
    this.#parts = parts
    this.#line = line
    this.#known.set(-1, parts.accepted.outline)
    this.#known.set(line.length - 1, parts.head.outline)
  }

  /** Released is everything up to the last override, if it can be told what that left. */
  async judgeAll(): Promise<FoundBreach | undefined> {
    const last = this.#line.length - 1
    for (let at = last; at >= 0; at--) {
      if (!this.#line[at]!.isOverride) continue
      if ((await this.#outline(at)) !== undefined) return this.judge(at, last)
    }
    return this.judge(-1, last)
  }

  /** Looks into halves of what alters too much; most steps are never looked at. */
  async judge(from: number, to: number): Promise<FoundBreach | undefined> {
    if (from >= to) return undefined
    const [before, after] = [await this.#outline(from), await this.#outline(to)]
    const point = this.#line[to]!
    if (before === undefined || after === undefined) return undefined
    const breach = breachBetween(before, after)
    if (breach === undefined) return undefined
    const middle = (from + to) >> 1
    if (to - from === 1) return point.isOfApi ? undefined : { commit: point.commit, breach }
    // What has errors, or is one too many to look at, is judged with its neighbours.
    if ((await this.#outline(middle)) === undefined) return { commit: point.commit, breach }
    return (await this.judge(from, middle)) ?? this.judge(middle, to)
  }

  async #outline(at: number): Promise<NameOutline | undefined> {
    if (!this.#known.has(at)) {
      const isLooked = this.#looksLeft-- > 0
      const { commit } = this.#line[at]!
      this.#known.set(at, isLooked ? await this.#parts.outlineOf(commit) : undefined)
    }
    return this.#known.get(at)
  }
}

/**
 * From the accepted commit to the head, oldest first, by first parents where they lead there.
 * Whatever else a point brings is merged by it.
 */
async function mainLine({
  graph,
  accepted,
  head,
  commits,
  isOfApi,
  mayOverride,
}: GuardParts): Promise<{ line: LinePoint[]; vainOverride: string }> {
  const later = await graph.laterThan(accepted.commit, commits)
  const seen = new Set([accepted.commit])
  const ids: string[] = []
  for (let at = head.commit; at !== accepted.commit;) {
    ids.unshift(at)
    const commit = await graph.commit(at)
    const next = commit.ok ? commit.value.parents.find((parent) => later.has(parent)) : undefined
    if (next === undefined) break
    at = next
  }
  const line: LinePoint[] = []
  const brought = new Set(commits)
  let vainOverride = ''
  for (const id of ids) {
    const overrides = await overridesOf(id, { graph, brought, seen })
    const isOverride = overrides.some(mayOverride)
    vainOverride = overrides.find((one) => !mayOverride(one)) ?? vainOverride
    line.push({ commit: id, isOfApi: isOfApi(id), isOverride })
  }
  return { line, vainOverride }
}

/** Those of a commit, and of what it merges, that say that something is meant. */
async function overridesOf(
  id: string,
  { graph, brought, seen }: { graph: CommitGraph; brought: Set<string>; seen: Set<string> },
): Promise<readonly string[]> {
  const found = new Set([id])
  const overrides: string[] = []
  for (const oid of found) {
    seen.add(oid)
    const commit = await graph.commit(oid)
    if (!commit.ok) continue
    if (commit.value.override !== '') overrides.push(oid)
    for (const parent of commit.value.parents) {
      if (brought.has(parent) && !seen.has(parent)) found.add(parent)
    }
  }
  return overrides
}

/** Who answers for the names that accepted commits removed. */
export type Removals =
  /** Nodes: each request was judged when it was made, by itself and with those shortly before. */
  | 'api'
  /** The guardrail for commits, which has judged them. */
  | 'git'
  /** A person, for all that was removed up to here. */
  | 'override'

export async function removalsOf({
  graph,
  commits,
  isOfApi,
  mayOverride,
}: Pick<GuardParts, 'graph' | 'commits' | 'isOfApi' | 'mayOverride'>): Promise<Removals> {
  for (const id of commits) {
    const commit = await graph.commit(id)
    if (commit.ok && commit.value.override !== '' && mayOverride(id)) return 'override'
  }
  return commits.every(isOfApi) ? 'api' : 'git'
}

/** Sentences. */
export function guardedReason({ commit, breach, vainOverride }: GuardedCommit): string {
  return (
    `Commit ${short(commit)} ${breach.words}. If that is meant, push a signed commit ` +
    `after it that says so: ${overrideCommand}. Otherwise take it back: git revert ` +
    `${short(commit)}. The commit accepted before goes on serving.` +
    (vainOverride === '' ? '' : ` ${notAllowed(vainOverride)}`)
  )
}

function notAllowed(commit: string): string {
  return (
    `Commit ${short(commit)} says that it is meant, and its signer may not: only keys whose ` +
    `line in allowed_signers has "${overrideNamespace}" among its namespaces, or no namespaces.`
  )
}

export const overrideCommand =
  'git commit --allow-empty -S -m "Meant as it is" ' + `--trailer "${overrideTrailer}: the reason"`
