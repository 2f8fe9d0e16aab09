// Checks each commit of a head against the guardrails, the same on every node.
import type { NameOutline } from '#compiler/lower/name-outline.ts'
import { assert } from '#lib/assert.ts'
import { overrideNamespace } from '#gitops/trust/allowed-signers.ts'
import { mayOverride, short } from '#gitops/trust/accept.ts'
import type { Signatures } from '#gitops/trust/accept.ts'
import { backTrailer, overrideTrailer } from '#gitops/git/objects/commit-object.ts'
import type { CommitGraph } from '#gitops/git/commit-graph.ts'
import { gitLimits } from '#gitops/limits.ts'
import { breachBetween, isNoRepair } from '#judge/guard/judge.ts'
import type { Breach } from '#judge/guard/judge.ts'
import type { EarlierState, NamedChange, Repair } from './earlier.ts'

export interface GuardedPoint {
  readonly commit: string
  readonly outline: NameOutline
}

export interface GuardParts {
  readonly graph: CommitGraph
  readonly accepted: GuardedPoint
  readonly head: GuardedPoint
  /**
   * The outline of a request that is in no commit yet; judged after the head, as commit ''. Left
   * out: there is none.
   */
  readonly uncommitted?: NameOutline
  /** Commits that `head` adds to the accepted one. */
  readonly commits: readonly string[]
  readonly signatures: Signatures
  /** Names of a commit below `head`; undefined: the commit has errors, or cannot be read. */
  readonly outlineOf: (commit: string) => Promise<NameOutline | undefined>
  /**
   * True: no commit in between has answered anywhere, so all of them are judged as one change.
   * False: each commit is judged by itself, as on a node that saw each of them come.
   */
  readonly isOneChange: boolean
  /** Finds what a change goes back to; see `Repairs`. */
  readonly repairOf: (change: NamedChange) => Promise<Repair | string>
}

interface GuardVerdict {
  readonly held?: GuardedCommit
  /** Without `held`: the changes that were let pass since they go back. */
  readonly backs: readonly GoneBack[]
}

/** A commit beyond the limits that is accepted, since it goes back to what answered before. */
export interface GoneBack {
  readonly commit: string
  readonly breach: Breach
  readonly repair: Repair
}

interface GuardedCommit {
  readonly commit: string
  /** The first commit of the range that breaks the limit together; '': `commit` does so alone. */
  readonly since: string
  readonly breach: Breach
  /** The commit that declares the change as meant, by a signer who may not; '': there is none. */
  readonly vainOverride: string
  /** Sentences or '': why the commit that it names is no way back, or what it may name. */
  readonly vainBack: string
}

/**
 * Finds the first change that exceeds the limits and that nobody vouches for. A commit of the API
 * was judged when it was made, request by request: a node that sees many of them together must not
 * take them for one change.
 */
export async function judgeHead(parts: GuardParts): Promise<GuardVerdict> {
  const { accepted, head, uncommitted = head.outline } = parts
  if (breachBetween(accepted.outline, uncommitted) === undefined) return { backs: [] }
  const { line, vainOverride } = await mainLine(parts)
  const judge = new Judge(parts, line)
  const found = await judge.judgeAll()
  const { backs, vainBack } = judge
  return found === undefined ? { backs } : { held: { ...found, vainOverride, vainBack }, backs: [] }
}

type FoundBreach = Omit<GuardedCommit, 'vainOverride' | 'vainBack'>

interface LinePoint {
  readonly commit: string
  readonly isOfApi: boolean
  /** True: this point, or a commit that it merges, declares all changes up to here as meant. */
  readonly isOverride: boolean
  /** Commits that this point, or a commit that it merges, names as what it goes back to. */
  readonly back: readonly string[]
  /** Commits in a `git revert` message: they count for the change of this point alone. */
  readonly reverts: readonly string[]
}

const notCommitted: LinePoint = {
  ...{ commit: '', isOfApi: false, isOverride: false, back: [], reverts: [] },
}

/** Judges ranges of the line. Positions are indices of the line; -1 is the accepted commit. */
class Judge {
  readonly #parts: GuardParts
  readonly #line: readonly LinePoint[]
  readonly #known = new Map<number, NameOutline | undefined>()
  #looksLeft: number = gitLimits.guardLooksMax
  readonly backs: GoneBack[] = []
  vainBack = ''

  constructor(parts: GuardParts, line: readonly LinePoint[]) {
    const { accepted, head, uncommitted } = parts
    this.#parts = parts
    this.#line = uncommitted === undefined ? line : [...line, notCommitted]
    this.#known.set(-1, accepted.outline)
    this.#known.set(line.length - 1, head.outline)
    if (uncommitted !== undefined) this.#known.set(line.length, uncommitted)
  }

  async judgeAll(): Promise<FoundBreach | undefined> {
    return this.judge(await this.#released(), this.#line.length - 1)
  }

  /** Position of the last override whose outline is known: it releases everything up to it. */
  async #released(): Promise<number> {
    for (let at = this.#line.length - 1; at >= 0; at--) {
      if (this.#line[at]!.isOverride && (await this.#outline(at)) !== undefined) return at
    }
    return -1
  }

  /** Judges a range, and its halves only when the range exceeds the limits. */
  async judge(from: number, to: number): Promise<FoundBreach | undefined> {
    if (from >= to) return undefined
    const breach = await this.#breach(from, to)
    if (breach === undefined) return undefined
    const isOne = to - from === 1 || (this.#parts.isOneChange && !this.#hasApi(from, to))
    if (isOne) return await this.#judgeOne(from, to, breach)
    const middle = this.#middle(from, to)
    // A point with errors, or beyond the limit of looks, is judged together with its neighbours.
    if ((await this.#outline(middle)) === undefined) return this.#found(from, to, breach)
    return (await this.judge(from, middle)) ?? this.judge(middle, to)
  }

  async #judgeOne(from: number, to: number, breach: Breach): Promise<FoundBreach | undefined> {
    if (this.#line[to]!.isOfApi || (await this.#goesBack(from, to, breach))) return undefined
    const at = await this.#repairAmong(from, to)
    if (at !== undefined) return (await this.judge(from, at - 1)) ?? this.judge(at, to)
    const [base, last] = await this.#narrowest(from, to, breach)
    return this.#found(base, last, breach)
  }

  /**
   * Position of a commit in the range that is a repair by itself: the changes before it and after
   * it are judged each.
   */
  async #repairAmong(from: number, to: number): Promise<number | undefined> {
    if (to - from === 1 || (await this.#isNoRepair(from, to))) return undefined
    for (let at = to; at > from; at--) {
      const { back, reverts } = this.#line[at]!
      if (back.length + reverts.length === 0) continue
      const breach = await this.#breach(at - 1, at)
      if (breach !== undefined && (await this.#goesBack(at - 1, at, breach))) return at
    }
    return undefined
  }

  /** Narrows the range to what breaks the limit: mostly one commit of many. */
  async #narrowest(from: number, to: number, { words }: Breach): Promise<[number, number]> {
    let [base, last] = [from, to]
    while (last - base > 1) {
      const middle = (base + last) >> 1
      if ((await this.#breach(base, middle))?.words === words) last = middle
      else if ((await this.#breach(middle, last))?.words === words) base = middle
      else break
    }
    return [base, last]
  }

  #found(from: number, to: number, breach: Breach): FoundBreach {
    const since = to - from === 1 ? '' : this.#commitAt(from)
    return { commit: this.#commitAt(to), since, breach }
  }

  #commitAt(at: number): string {
    return at < 0 ? this.#parts.accepted.commit : this.#line[at]!.commit
  }

  #hasApi(from: number, to: number): boolean {
    return this.#line.slice(from + 1, to + 1).some(({ isOfApi }) => isOfApi)
  }

  /** A position near the middle where the range may be split: beside a commit of the API. */
  #middle(from: number, to: number): number {
    const middle = (from + to) >> 1
    if (!this.#parts.isOneChange) return middle
    for (let away = 0; away < to - from; away++) {
      const borders = [middle - away, middle + away].filter((at) => at > from && at < to)
      const found = borders.find((at) => this.#line[at]!.isOfApi || this.#line[at + 1]!.isOfApi)
      if (found !== undefined) return found
    }
    return middle
  }

  async #breach(from: number, to: number, earlier?: NameOutline): Promise<Breach | undefined> {
    const [before, after] = [await this.#outline(from), await this.#outline(to)]
    if (before === undefined || after === undefined) return undefined
    return breachBetween(before, after, earlier)
  }

  /**
   * Whether the change is a repair. Removed names and a broken chain of trust are none, whatever
   * was before them, and a request in no commit names nothing.
   */
  async #goesBack(from: number, to: number, breach: Breach): Promise<boolean> {
    const commit = this.#commitAt(to)
    if (commit === '' || (await this.#isNoRepair(from, to))) return false
    const repair = await this.#parts.repairOf({
      from: this.#commitAt(from),
      to: commit,
      names: this.#namesFor(from, to),
      // The names are compared, too: other files may have changed, so that these mean something
      // else.
      isBack: async (earlier) => {
        const then = await this.#look(earlier)
        return then !== undefined && (await this.#breach(from, to, then)) === undefined
      },
    })
    if (typeof repair === 'string') this.vainBack ||= repair
    else this.backs.push({ commit, breach, repair })
    return typeof repair !== 'string'
  }

  /** The commits named by the change, or by a trailer of a later commit. Newest first. */
  #namesFor(from: number, to: number): readonly string[] {
    const said = this.#line.slice(from + 1).toReversed()
    const names = said.flatMap(({ back }) => back)
    if (to - from === 1) names.push(...this.#line[to]!.reverts)
    return [...new Set(names)].slice(0, gitLimits.backNamesMax)
  }

  async #isNoRepair(from: number, to: number): Promise<boolean> {
    const [before, after] = [await this.#outline(from), await this.#outline(to)]
    assert(before !== undefined && after !== undefined, 'a breach is between two outlines')
    return isNoRepair(before, after)
  }

  async #outline(at: number): Promise<NameOutline | undefined> {
    if (!this.#known.has(at)) {
      this.#known.set(at, await this.#look(this.#line[at]!.commit))
    }
    return this.#known.get(at)
  }

  async #look(commit: string): Promise<NameOutline | undefined> {
    return this.#looksLeft-- > 0 ? await this.#parts.outlineOf(commit) : undefined
  }
}

/**
 * Lists the points from the accepted commit to the head, oldest first, along first parents where
 * they lead there. Each other commit belongs to the point that merges it.
 */
async function mainLine({
  graph,
  accepted,
  head,
  commits,
  signatures,
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
  const newCommits = new Set(commits)
  let vainOverride = ''
  for (const id of ids) {
    const { overrides, ...names } = await trailersOfPoint(id, { graph, newCommits, seen })
    const isOverride = overrides.some((one) => mayOverride(signatures, one))
    vainOverride = overrides.find((one) => !mayOverride(signatures, one)) ?? vainOverride
    line.push({ commit: id, isOfApi: signatures.byNodes.has(id), isOverride, ...names })
  }
  return { line, vainOverride }
}

/** Lists the trailers of a point: those of its commit, and of the commits that it merges. */
async function trailersOfPoint(
  id: string,
  { graph, newCommits, seen }: { graph: CommitGraph; newCommits: Set<string>; seen: Set<string> },
): Promise<Pick<LinePoint, 'back' | 'reverts'> & { readonly overrides: readonly string[] }> {
  const found = new Set([id])
  const [overrides, back, reverts] = [[], [], []] as [string[], string[], string[]]
  for (const oid of found) {
    seen.add(oid)
    const commit = await graph.commit(oid)
    if (!commit.ok) continue
    if (commit.value.override !== '') overrides.push(oid)
    back.push(...commit.value.back)
    reverts.push(...commit.value.reverts)
    for (const parent of commit.value.parents) {
      if (newCommits.has(parent) && !seen.has(parent)) found.add(parent)
    }
  }
  return { overrides, back, reverts }
}

/** The guardrail that judged the names that accepted commits removed. */
export type Removals =
  /**
   * `api`: signed by nodes; each request was judged when it was made, with those shortly before.
   */
  | 'api'
  /** `git`: the guardrail for commits has judged them. */
  | 'git'
  /** `override`: a person vouches for all that was removed up to here. */
  | 'override'

export async function removalsOf({
  graph,
  commits,
  signatures,
}: Pick<GuardParts, 'graph' | 'commits' | 'signatures'>): Promise<Removals> {
  for (const id of commits) {
    const commit = await graph.commit(id)
    if (commit.ok && commit.value.override !== '' && mayOverride(signatures, id)) return 'override'
  }
  return commits.every((id) => signatures.byNodes.has(id)) ? 'api' : 'git'
}

/**
 * Says why a commit is held, in sentences.
 *
 * @param isSignerBelow its signer is known, and may not declare it as meant
 */
export function guardedReason(held: GuardedCommit, isSignerBelow = false): string {
  const { commit, since, breach, vainOverride, vainBack } = held
  const [who, takeBack] =
    since === ''
      ? [`Commit ${short(commit)}`, `git revert ${short(commit)}`]
      : [`The change from commit ${short(since)} to ${short(commit)}`, backFrom(since, commit)]
  return (
    `${who} ${breach.words}. If that is meant, push a signed commit after it that says so: ` +
    `${overrideCommand}. ` +
    (isSignerBelow && vainOverride === '' ? `The signer of this one may not: ${howToMay}. ` : '') +
    `Otherwise take it back: ${takeBack}. The commit accepted before ` +
    'goes on serving.' +
    (vainOverride === '' ? '' : ` ${notAllowed(vainOverride)}`) +
    (vainBack === '' ? '' : ` ${vainBack}`)
  )
}

/** How to go back from a range of commits: `git revert` refuses merges. */
const backFrom = (since: string, commit: string): string =>
  `git diff --binary ${short(since)} ${short(commit)} | git apply -R --index, then commit`

/** Says in a sentence why a commit beyond the limits was accepted. */
export function backReason({ commit, breach, repair: { state } }: GoneBack): string {
  return `Commit ${short(commit)} ${backClause(breach, state)}`
}

/** The last clause of `backReason`. */
export function backClause({ words }: Pick<Breach, 'words'>, to: EarlierState): string {
  return (
    `${words}; it goes back to commit ${short(to.commit)}, which answered until ` +
    `${instantOf(to.untilMs)}, so that limit is not applied.`
  )
}

/** A time in minutes, UTC. */
const instantOf = (atMs: number): string =>
  `${new Date(atMs).toISOString().slice(0, 16).replace('T', ' ')} UTC`

function notAllowed(commit: string): string {
  return (
    `Commit ${short(commit)} says that it is meant, and its signer may not: only keys whose ` +
    `line in allowed_signers has "${overrideNamespace}" among its namespaces, or no namespaces. ` +
    `${howToMay[0]!.toUpperCase()}${howToMay.slice(1)}.`
  )
}

const howToMay =
  'on the nodes, "gslbd trust add PRINCIPAL KEY --may-override" gives a key the right'

export const overrideCommand =
  'git commit --allow-empty -S -m "Meant as it is" ' + `--trailer "${overrideTrailer}: the reason"`

/** How to make a repair; ends in a space, or is '' where a repair is not possible. */
export const repairAdvice = ({ code }: Pick<Breach, 'code'>): string =>
  code === 'NamesRemoved' ? '' : `${repairCommand} `

const repairCommand =
  'If it goes back to what answered within a day, say to which commit, in it or after it: ' +
  `git commit --allow-empty -S -m "Back" --trailer "${backTrailer}: COMMIT", or git revert.`
