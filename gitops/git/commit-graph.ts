// Lists the new commits of a head: reachable from it, and not from the last accepted commit.
import { assert } from '#lib/assert.ts'
import { lowerBound } from '#lib/sequence/lower-bound.ts'
import { err, ok } from '#lib/result.ts'
import type { Result } from '#lib/result.ts'
import { getOrInsert } from '#lib/sequence/get-or-insert.ts'
import { parseCommit } from './objects/commit-object.ts'
import type { CommitObject } from './objects/commit-object.ts'
import type { GitDriver, ObjectError } from '#gitops/git/objects/driver.ts'
import { gitLimits } from '#gitops/limits.ts'

interface Node {
  readonly parents: readonly string[]
  /** The committer's time. It orders the walk and decides nothing else. */
  readonly seconds: number
}

interface NewCommits {
  /**
   * Oldest first. With wrong clocks it may hold old commits as well, never fewer than the new ones.
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

  /** The parsed commit. `refused`: the object is there, and no node may accept it. */
  async commit(oid: string): Promise<Result<CommitObject, ObjectError>> {
    const raw = await this.#driver.readCommit(oid)
    if (!raw.ok) return raw
    const commit = parseCommit(raw.value)
    if (commit.ok) return commit
    return err({ kind: 'refused', reason: `Commit ${oid} ${commit.error}.` })
  }

  /** @param accepted null: only the head is new, whatever lies below it */
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
      // The history names the commit, so the repository has lost its object.
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

  /** Walks the whole history: exact and slow, so it is asked only before a commit is refused. */
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
   * Counts how many commits of `newCommits` are really new. Wrong clocks may have added old ones; a
   * commit that has the accepted one in its history is new.
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
        getOrInsert(children, parent, () => []).push(oid)
      }
    }
    const later = new Set([accepted])
    for (const oid of later) for (const child of children.get(oid) ?? []) later.add(child)
    return later
  }

  /** Whether `oid`, which may be absent, is in the history of `head`. Walks the whole history. */
  async #reaches(head: string, oid: string): Promise<Result<boolean, ObjectError>> {
    const all = new Set([head])
    for (const next of all) {
      if (next === oid) return ok(true)
      if (all.size > gitLimits.walkedCommitsMax) return ok(false)
      const node = await this.#node(next)
      // An object of the head's history should be in the repository: its absence is an error.
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

/** A walk in two colours (new and old), newest commit first. It ends when only old ones wait. */
class Walk {
  readonly #visits = new Map<string, Visit>()
  /** Commits to visit, by time; the newest is last. */
  readonly #queue: Visit[] = []
  #newQueued = 0

  get size(): number {
    return this.#visits.size
  }

  has(oid: string, isOld: boolean): boolean {
    const visit = this.#visits.get(oid)
    return visit !== undefined && (visit.isOld || !isOld)
  }

  /** A commit that was seen as new and turns out to be old is queued again, to mark its parents. */
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
    const at = lowerBound(this.#queue.length, (i) => secondsOf(this.#queue[i]!) <= seconds)
    this.#queue.splice(at, 0, visit)
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
