// Lists the new commits of a head: reachable from it, and not from the last accepted commit.
import { assert } from '#lib/assert.ts'
import { err, ok } from '#lib/result.ts'
import type { Result } from '#lib/result.ts'
import { parseCommit } from './objects/commit-object.ts'
import type { CommitObject } from './objects/commit-object.ts'
import type { GitDriver, ObjectError } from '#gitops/git/objects/driver.ts'
import { gitLimits } from '#gitops/limits.ts'

interface Node {
  readonly parents: readonly string[]
  /** Committer's time: orders the walk, decides nothing. */
  readonly seconds: number
}

export interface NewCommits {
  /**
   * Oldest first. With wrong clocks it may hold ancestors of the accepted commit, never fewer than
   * the new ones.
   */
  readonly commits: readonly string[]
  /** False when the head does not have the accepted commit among its ancestors. */
  readonly descends: boolean
}

export class CommitGraph {
  readonly #driver: Pick<GitDriver, 'readCommit'>
  readonly #nodes = new Map<string, Node>()
  #ancestors: { of: string; all: ReadonlySet<string> } | undefined

  constructor(driver: Pick<GitDriver, 'readCommit'>) {
    this.#driver = driver
  }

  /** The parsed commit. `refused`: it is there and is not acceptable to anyone. */
  async commit(oid: string): Promise<Result<CommitObject, ObjectError>> {
    const raw = await this.#driver.readCommit(oid)
    if (!raw.ok) return raw
    const commit = parseCommit(raw.value)
    if (commit.ok) return commit
    return err({ kind: 'refused', reason: `Commit ${oid} ${commit.error}.` })
  }

  /** `accepted` null: the head alone, whatever lies below it. */
  async newCommits(
    accepted: string | null,
    head: string,
  ): Promise<Result<NewCommits, ObjectError>> {
    if (accepted === null) return ok({ commits: [head], descends: true })
    if (accepted === head) return ok({ commits: [], descends: true })
    const base = await this.#node(accepted)
    if (!base.ok && base.error.kind === 'missing') {
      const reached = await this.#reaches(head, accepted)
      if (!reached.ok) return reached
      // The history has it, so it was lost here.
      return reached.value ? base : ok({ commits: [], descends: false })
    }
    const walk = new Walk()
    walk.mark(head, await this.#node(head), false)
    walk.mark(accepted, base, true)
    let descends = false
    for (let next = walk.take(); next !== undefined; next = walk.take()) {
      if (!next.node.ok) return next.node
      for (const parent of next.node.value.parents) {
        if (!next.isOld && parent === accepted) descends = true
        if (walk.has(parent, next.isOld)) continue
        walk.mark(parent, await this.#node(parent), next.isOld)
      }
      if (walk.size > gitLimits.walkedCommitsMax) {
        return err({
          kind: 'refused',
          reason: `The history is longer than ${gitLimits.walkedCommitsMax} commits.`,
        })
      }
    }
    return ok({ commits: walk.newOnes(), descends })
  }

  /** Exact, and as long as the history: asked only before a commit is refused. */
  async isAncestor(oid: string, accepted: string): Promise<boolean> {
    if (this.#ancestors?.of !== accepted) {
      const all = new Set([accepted])
      for (const next of all) {
        const node = await this.#node(next)
        if (!node.ok || all.size > gitLimits.walkedCommitsMax) break
        for (const parent of node.value.parents) all.add(parent)
      }
      this.#ancestors = { of: accepted, all }
    }
    return this.#ancestors.all.has(oid)
  }

  /**
   * How many of the commits of `newCommits` are new. Wrong clocks may have brought in others;
   * whatever has the accepted commit in its history is not one of them.
   */
  async countNew(accepted: string, commits: readonly string[]): Promise<number> {
    const later = await this.laterThan(accepted, commits)
    let count = 0
    for (const oid of commits) {
      if (later.has(oid) || !(await this.isAncestor(oid, accepted))) count++
    }
    return count
  }

  /** The `commits` that have `accepted` in their history, and `accepted` itself. */
  async laterThan(accepted: string, commits: readonly string[]): Promise<ReadonlySet<string>> {
    const children = new Map<string, string[]>()
    for (const oid of commits) {
      const node = await this.#node(oid)
      for (const parent of node.ok ? node.value.parents : []) {
        const known = children.get(parent)
        if (known === undefined) children.set(parent, [oid])
        else known.push(oid)
      }
    }
    const later = new Set([accepted])
    for (const oid of later) for (const child of children.get(oid) ?? []) later.add(child)
    return later
  }

  /** Whether `oid`, which need not be here, is in the history of `head`. As long as that. */
  async #reaches(head: string, oid: string): Promise<Result<boolean, ObjectError>> {
    const all = new Set([head])
    for (const next of all) {
      if (next === oid) return ok(true)
      if (all.size > gitLimits.walkedCommitsMax) return ok(false)
      const node = await this.#node(next)
      // The whole history of the head should be here.
      if (!node.ok) return node
      for (const parent of node.value.parents) all.add(parent)
    }
    return ok(false)
  }

  async #node(oid: string): Promise<Result<Node, ObjectError>> {
    const known = this.#nodes.get(oid)
    if (known !== undefined) return ok(known)
    const commit = await this.commit(oid)
    if (!commit.ok) return commit
    if (this.#nodes.size > gitLimits.walkedCommitsMax) this.#nodes.clear()
    const node = { parents: commit.value.parents, seconds: commit.value.committer.seconds }
    this.#nodes.set(oid, node)
    return ok(node)
  }
}

interface Visit {
  readonly oid: string
  readonly node: Result<Node, ObjectError>
  isOld: boolean
  isQueued: boolean
}

/** Two colours, newest first, until no commit of the new colour waits. */
class Walk {
  readonly #visits = new Map<string, Visit>()
  /** By time, the newest last. */
  readonly #queue: Visit[] = []
  #newQueued = 0

  get size(): number {
    return this.#visits.size
  }

  has(oid: string, isOld: boolean): boolean {
    const visit = this.#visits.get(oid)
    return visit !== undefined && (visit.isOld || !isOld)
  }

  /**
   * A commit seen as new and then found to be old goes through the queue again, for its parents.
   */
  mark(oid: string, node: Result<Node, ObjectError>, isOld: boolean): void {
    const visit = this.#visits.get(oid)
    if (visit === undefined) {
      this.#enqueue({ oid, node, isOld, isQueued: false })
    } else if (isOld && !visit.isOld) {
      if (visit.isQueued) this.#newQueued--
      visit.isOld = true
      if (!visit.isQueued) this.#enqueue(visit)
    }
  }

  #enqueue(visit: Visit): void {
    this.#visits.set(visit.oid, visit)
    visit.isQueued = true
    if (!visit.isOld) this.#newQueued++
    const seconds = secondsOf(visit)
    let low = 0
    let high = this.#queue.length
    while (low < high) {
      const middle = (low + high) >> 1
      if (secondsOf(this.#queue[middle]!) <= seconds) low = middle + 1
      else high = middle
    }
    this.#queue.splice(low, 0, visit)
  }

  take(): Visit | undefined {
    const visit = this.#newQueued === 0 ? undefined : this.#queue.pop()
    if (visit === undefined) return undefined
    visit.isQueued = false
    if (!visit.isOld) this.#newQueued--
    assert(this.#newQueued >= 0, 'new commits are counted when they are put in line')
    return visit
  }

  newOnes(): string[] {
    const commits = Array.from(this.#visits.values()).filter((visit) => !visit.isOld)
    return commits.map((visit) => visit.oid).reverse()
  }
}

function secondsOf(visit: Visit): number {
  return visit.node.ok ? visit.node.value.seconds : Infinity
}
