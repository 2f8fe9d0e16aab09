// Decides whether a change is a repair: it names a commit, each file that it alters is again as it
// was in that commit, and a state with those files answered lately. The name alone proves nothing.
import { assert } from '#lib/assert.ts'
import type { CommitGraph } from '#gitops/git/commit-graph.ts'
import { backTrailer } from '#gitops/git/objects/commit-object.ts'
import { gitLimits } from '#gitops/limits.ts'
import { short } from '#gitops/trust/accept.ts'
import { AnsweredCommits } from './answered.ts'
import type { AnsweredParts } from './answered.ts'
import { changedPaths, isTakenBack } from './earlier.ts'
import type { Answered, Blobs, EarlierState, EarlierStates, NamedChange } from './earlier.ts'
import type { Repair, TreeBlobs } from './earlier.ts'
import { earlierIn } from './history.ts'

export interface RepairParts extends Pick<AnsweredParts, 'outlineOf' | 'signersOfRange'> {
  readonly graph: CommitGraph
  readonly blobsOf: TreeBlobs
  /**
   * States that this node answered from. Left out: they are read from the history, which all nodes
   * of a remote have, since no node has seen all of them.
   */
  readonly earlier?: EarlierStates
}

interface Alteration {
  /** Paths of the files that the change alters. */
  readonly paths: readonly string[]
  readonly after: Blobs
  /** The states that answered before. */
  readonly states: EarlierStates
  /** Blobs of each of these states, and last those of the change itself. */
  readonly blobs: readonly Blobs[]
}

export class Repairs {
  readonly #parts: RepairParts

  constructor(parts: RepairParts) {
    this.#parts = parts
  }

  /**
   * Finds the repair that a change is. Errors: sentences that say why the commit that it names is
   * no way back, or which to name; or ''.
   */
  of = async (change: NamedChange): Promise<Repair | string> => {
    const answered =
      this.#parts.earlier === undefined
        ? new AnsweredCommits({ ...this.#parts, repairOf: this.#find }).has
        : undefined
    if (change.names.length > 0) return await this.#find(change, answered)
    return await this.#advice(change, answered)
  }

  async #advice(change: NamedChange, answered: Answered | undefined): Promise<string> {
    const altered = await this.#altered(change)
    const { commit } = (altered && (await lastAlike(altered, answered)))?.state ?? {}
    if (altered === undefined || commit === undefined) return ''
    // The advice is given only if the repair would be accepted with it.
    const repair = await this.#find({ ...change, names: [commit] }, answered)
    if (typeof repair === 'string') return ''
    const trailer = `--trailer "${backTrailer}: ${commit}"`
    return (
      `It has the files of commit ${short(commit)} again: if it goes back to that, ` +
      `say so, in it or after it: git commit --allow-empty -S -m "Back" ${trailer}.`
    )
  }

  #find = async (change: NamedChange, answered?: Answered): Promise<Repair | string> => {
    if (change.names.length === 0) return ''
    const altered = await this.#altered(change)
    if (altered === undefined) return 'Its files cannot be compared.'
    let why = ''
    for (const name of change.names) {
      const other = await this.#otherThan(name, change, altered)
      if (other === '') {
        const repair = await lastAlike(altered, answered)
        if (repair === undefined) return noWay(name, nothingAnswered)
        return (await change.isBack(repair.state.commit)) ? repair : noWay(name, meansOther)
      }
      why ||= noWay(name, other)
    }
    return why
  }

  /** Says in a clause which file differs from the commit of that name; '': none does. */
  async #otherThan(
    name: string,
    { from, to }: NamedChange,
    { paths, after, states }: Alteration,
  ): Promise<string> {
    const { graph, blobsOf } = this.#parts
    const id = await this.#idOf(name, from, states)
    const commit = id === undefined ? undefined : await graph.commit(id)
    const blobs = commit?.ok === true ? await blobsOf(commit.value.tree) : undefined
    if (id === undefined || blobs === undefined) return 'there is no such commit'
    if (!(await graph.isAncestor(id, to))) return 'that is not below it'
    const other = paths.find((path) => blobs.get(path) !== after.get(path))
    return other === undefined ? '' : `${other} is not as it was then`
  }

  async #altered({ from, to }: NamedChange): Promise<Alteration | undefined> {
    const { graph, blobsOf } = this.#parts
    const [before, after] = [await graph.commit(from), await graph.commit(to)]
    if (!before.ok || !after.ok) return undefined
    const was = await blobsOf(before.value.tree)
    const is = await blobsOf(after.value.tree)
    if (was === undefined || is === undefined) return undefined
    const paths = [...changedPaths(was, is)]
    const atMs = after.value.committer.seconds * 1_000
    const states: EarlierState[] = []
    const blobs: Blobs[] = []
    for (const state of this.#parts.earlier ?? (await earlierIn(this.#parts, from, atMs))) {
      const its = await blobsOf(state.tree)
      if (its === undefined) continue
      states.push(state)
      blobs.push(its)
    }
    assert(blobs.length === states.length, 'each earlier state is compared by its own files')
    return { paths, after: is, states, blobs: [...blobs, was] }
  }

  async #idOf(name: string, from: string, states: EarlierStates): Promise<string | undefined> {
    const { graph } = this.#parts
    const id = name.replace('^', '')
    const listed = states.findLast(({ commit }) => commit.startsWith(id))?.commit
    let at: string | undefined = listed ?? (id.length === 40 ? id : from)
    // An abbreviated id is looked for below, along first parents.
    for (let walked = 0; at !== undefined && walked < gitLimits.backWalkedMax; walked++) {
      const found = await graph.commit(at)
      if (!found.ok) return undefined
      const [parent] = found.value.parents
      if (at.startsWith(id)) return name === id ? at : parent
      at = parent
    }
    return undefined
  }
}

const nothingAnswered =
  'nothing answered with these files within a day, or it has been taken back since'
const meansOther = 'what is beyond the limit is not as it was then: other files have changed since'

/** The last state with these files, if it has answered and was not taken back; else undefined. */
async function lastAlike(
  { paths, after, states, blobs }: Alteration,
  answered: Answered | undefined,
): Promise<Repair | undefined> {
  for (const [at, state] of [...states.entries()].toReversed()) {
    if (paths.some((path) => blobs[at]!.get(path) !== after.get(path))) continue
    if (isTakenBack(state, paths) || wasTakenBack(blobs, at, paths)) return undefined
    if (answered === undefined || (await answered(state.commit))) return { state, paths }
  }
  return undefined
}

const noWay = (name: string, why: string): string =>
  `It does not go back to ${shown(name)}: ${why}.`

const shown = (name: string): string =>
  name.endsWith('^') ? `the commit before ${short(name)}` : short(name)

/** Whether one of the files later went back to what it was before this state. */
function wasTakenBack(all: readonly Blobs[], at: number, paths: readonly string[]): boolean {
  return paths.some((path) => {
    const own = all[at]!.get(path)
    const older = new Set(all.slice(0, at).map((blobs) => blobs.get(path)))
    const later = all.slice(at + 1).map((blobs) => blobs.get(path))
    // A file that was removed later may be what the change repairs.
    return later.some((blob) => blob !== undefined && blob !== own && older.has(blob))
  })
}
