// Checks each commit of a head against the guardrails, the same on every node.
import type { NameOutline } from '#compiler/plan/name-outline.ts'
import { assert } from '#lib/assert.ts'
import { overrideNamespace } from '#gitops/trust/allowed-signers.ts'
import { short } from '#gitops/trust/accept.ts'
import { overrideTrailer } from '#gitops/git/objects/commit-object.ts'
import type { CommitGraph } from '#gitops/git/commit-graph.ts'
import { gitLimits } from '#gitops/limits.ts'
import { breachBetween, breachSince } from './breach.ts'
import type { Breach } from './breach.ts'
import type { EarlierState, EarlierStates } from './earlier.ts'

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
  /** Of a commit between the two, or before; undefined: it has errors, or cannot be read. */
  readonly outlineOf: (commit: string) => Promise<NameOutline | undefined>
  /** What answered before, and a change from one commit to the other may go back to. */
  readonly earlier: (from: string, to: string) => Promise<EarlierStates>
}

/** At most one of the two. */
export interface GuardVerdict {
  readonly held?: GuardedCommit
  readonly back?: GoneBack
}

/** A commit that alters more than the limits permit, to what answered before. */
export interface GoneBack {
  readonly commit: string
  readonly breach: Breach
  readonly to: EarlierState
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
export async function judgeHead(parts: GuardParts): Promise<GuardVerdict> {
  const { accepted, head } = parts
  if (breachBetween(accepted.outline, head.outline) === undefined) return {}
  const { line, vainOverride } = await mainLine(parts)
  const judge = new Judge(parts, line)
  const found = await judge.judgeAll()
  if (found !== undefined) return { held: { ...found, vainOverride } }
  return judge.back === undefined ? {} : { back: judge.back }
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
  /** The last one found. */
  back: GoneBack | undefined

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
    if (to - from === 1) {
      const isFine = point.isOfApi || (await this.#goesBack(from, to, breach))
      return isFine ? undefined : { commit: point.commit, breach }
    }
    // What has errors, or is one too many to look at, is judged with its neighbours.
    if ((await this.#outline(middle)) === undefined) return { commit: point.commit, breach }
    return (await this.judge(from, middle)) ?? this.judge(middle, to)
  }

  async #goesBack(from: number, to: number, breach: Breach): Promise<boolean> {
    const { accepted, earlier, outlineOf } = this.#parts
    const { commit } = this.#line[to]!
    const base = from < 0 ? accepted.commit : this.#line[from]!.commit
    const [before, after] = [await this.#outline(from), await this.#outline(to)]
    assert(before !== undefined && after !== undefined, 'a breach is between two outlines')
    const change = { before, after, breach }
    const state = await stateGoneBackTo(change, () => earlier(base, commit), outlineOf)
    if (state !== undefined) this.back = { commit, breach, to: state }
    return state !== undefined
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

/** A change that the limits do not permit. */
export interface JudgedChange {
  readonly before: NameOutline
  readonly after: NameOutline
  readonly breach: Breach
}

/**
 * What answered before, where a change leads back to it: whoever was moved by what lies between is
 * moved back. undefined: it leads elsewhere.
 */
export async function stateGoneBackTo(
  { before, after, breach }: JudgedChange,
  earlier: () => Promise<EarlierStates>,
  outlineOf: GuardParts['outlineOf'],
): Promise<EarlierState | undefined> {
  // Names go, whatever was before them.
  if (breach.code === 'NamesRemoved') return undefined
  for (const state of (await earlier()).toReversed()) {
    const outline = await outlineOf(state.commit)
    if (outline !== undefined && breachSince(outline, before, after) === undefined) return state
  }
  return undefined
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

/** A sentence. */
export function backReason({ commit, ...back }: GoneBack): string {
  return `Commit ${short(commit)} ${backWords(back)}`
}

/** Its end. */
export function backWords({
  breach,
  to,
}: {
  readonly breach: Pick<Breach, 'words'>
  readonly to: EarlierState
}): string {
  return (
    `${breach.words}; it goes back to commit ${short(to.commit)}, which answered until ` +
    `${instantOf(to.untilMs)}, so that limit is not applied.`
  )
}

/** In minutes, UTC. */
const instantOf = (atMs: number): string =>
  `${new Date(atMs).toISOString().slice(0, 16).replace('T', ' ')} UTC`

function notAllowed(commit: string): string {
  return (
    `Commit ${short(commit)} says that it is meant, and its signer may not: only keys whose ` +
    `line in allowed_signers has "${overrideNamespace}" among its namespaces, or no namespaces.`
  )
}

export const overrideCommand =
  'git commit --allow-empty -S -m "Meant as it is" ' + `--trailer "${overrideTrailer}: the reason"`
