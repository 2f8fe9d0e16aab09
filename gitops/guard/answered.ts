// Decides from the history alone whether a commit ever answered, in the view of a node that was
// away for a day. All nodes that have the history come to the same result.
import type { CommitGraph } from '#gitops/git/commit-graph.ts'
import type { CommitObject } from '#gitops/git/objects/commit-object.ts'
import { gitLimits } from '#gitops/limits.ts'
import type { NameOutline } from '#compiler/lower/name-outline.ts'
import type { Answered, NamedChange, Repair } from './earlier.ts'
import { judgeHead } from './guardrail.ts'
import type { GuardedPoint, GuardParts } from './guardrail.ts'
import { lineTo } from './history.ts'

export type SignedRange = Pick<GuardParts, 'commits' | 'signatures'>

export interface AnsweredParts {
  readonly graph: CommitGraph
  readonly outlineOf: GuardParts['outlineOf']
  /** @returns undefined: the signers cannot be found out */
  readonly signersOfRange: (from: string, to: string) => Promise<SignedRange | undefined>
  readonly repairOf: (change: NamedChange, answered: Answered) => Promise<Repair | string>
}

/** Answers for one change, so that judging another does not use up its looks. */
export class AnsweredCommits {
  readonly #parts: AnsweredParts
  readonly #known = new Map<string, boolean>()
  #looksLeft: number = gitLimits.answeredLooksMax

  constructor(parts: AnsweredParts) {
    this.#parts = parts
  }

  /**
   * A commit that cannot be decided within the limit of looks counts as not answered: somebody must
   * vouch for it.
   */
  has: Answered = async (commit) => {
    const known = this.#known.get(commit)
    if (known !== undefined) return known
    if (this.#known.size === gitLimits.answeredMax) return false
    // Set to false before it is judged, which asks for older commits only, so that no walk can
    // repeat.
    this.#known.set(commit, false)
    const has = await this.#judge(commit)
    this.#known.set(commit, has)
    return has
  }

  async #judge(commit: string): Promise<boolean> {
    const { graph, signersOfRange, repairOf } = this.#parts
    const found = await graph.commit(commit)
    const outline = await this.#outlineOf(commit)
    if (!found.ok || outline === undefined) return false
    const base = await this.#answeredBefore(commit, found.value)
    if (base === 'nothing') return true
    const since = base && (await signersOfRange(base.commit, commit))
    if (base === undefined || since === undefined) return false
    const verdict = await judgeHead({
      graph,
      ...since,
      accepted: base,
      head: { commit, outline },
      outlineOf: this.#outlineOf,
      isOneChange: false,
      repairOf: (change) => repairOf(change, this.has),
    })
    return verdict.held === undefined
  }

  /**
   * The commit that a node had which was away for the day before. A commit with errors answered
   * nowhere: nodes kept the one below it. undefined: it cannot be decided.
   */
  async #answeredBefore(
    commit: string,
    { parents, committer }: Pick<CommitObject, 'parents' | 'committer'>,
  ): Promise<GuardedPoint | 'nothing' | undefined> {
    const { graph } = this.#parts
    const line = await lineTo(graph, commit, committer.seconds * 1_000)
    const [first, ...later] = line.slice(0, -1)
    let next = first?.commit ?? parents[0]
    while (next !== undefined) {
      const found = await graph.commit(next)
      if (!found.ok) return undefined
      const outline = await this.#outlineOf(next)
      if (outline !== undefined) return { commit: next, outline }
      if (this.#isOutOfLooks) return undefined
      next = found.value.parents[0]
    }
    // No commit up to here answered, so the first one that may have is later.
    for (const one of later) {
      const outline = await this.#outlineOf(one.commit)
      if (outline !== undefined) return { commit: one.commit, outline }
      if (this.#isOutOfLooks) return undefined
    }
    return 'nothing'
  }

  get #isOutOfLooks(): boolean {
    return this.#looksLeft < 0
  }

  #outlineOf = async (commit: string): Promise<NameOutline | undefined> =>
    this.#looksLeft-- > 0 ? await this.#parts.outlineOf(commit) : undefined
}
