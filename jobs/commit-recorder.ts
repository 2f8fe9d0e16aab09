// Records what becomes of commits on this node: when it activated one, and which it holds.
import type { GitopsStatus } from '#gitops/status/status.ts'
import type { Clock } from '#lib/clock.ts'
import type { Log } from '#lib/log.ts'
import { commitRecordLimits } from '#state/ports/commit-records.ts'
import type { CommitActivation, CommitRecords, HeldCommit } from '#state/ports/commit-records.ts'

interface CommitRecorderParts {
  readonly store: CommitRecords
  /** False: the node's own database is not made yet. */
  readonly isThere: () => boolean
  /** Name of this node. */
  readonly node: string
  readonly clock: Clock
  readonly log: Log
}

export class CommitRecorder {
  readonly #parts: CommitRecorderParts
  /** Activations by commit that are not stored yet. */
  readonly #activations = new Map<string, CommitActivation>()
  readonly #held = new Map<string, HeldCommit>()
  readonly #accepted = new Set<string>()
  #active = ''
  #status = ''
  #isLogged = false

  constructor(parts: CommitRecorderParts) {
    this.#parts = parts
  }

  /** To be called when this node activates a commit. */
  activated(commit: string): void {
    if (commit === this.#active) return
    this.#active = commit
    const { node, clock } = this.#parts
    add(this.#activations, commit, { node, commit, atMs: clock.nowMs() })
  }

  statusIs({ sync, head, accepted, code, reason }: GitopsStatus): void {
    const status = `${sync} ${head?.commit} ${accepted?.commit} ${code} ${reason}`
    if (status === this.#status) return
    this.#status = status
    if (accepted !== null) {
      this.#held.delete(accepted.commit)
      this.#accepted.add(accepted.commit)
      for (const oldest of this.#accepted) {
        if (this.#accepted.size <= commitRecordLimits.waitingMax) break
        this.#accepted.delete(oldest)
      }
    }
    // An accepted head is `held` as well when the next commit would be: no commit is held then.
    if (sync !== 'held' || head === null || head.commit === accepted?.commit) return
    const { commit, author, committedAtMs } = head
    const heldAtMs = this.#held.get(commit)?.heldAtMs ?? this.#parts.clock.nowMs()
    add(this.#held, commit, { commit, author, committedAtMs, code, reason, heldAtMs })
  }

  /** Stores what is new; what fails is tried again at the next call. */
  async flush(): Promise<void> {
    const { store, isThere } = this.#parts
    if (!isThere()) return
    const activations = [...this.#activations.values()]
    const held = [...this.#held.values()]
    const accepted = [...this.#accepted]
    if (activations.length + held.length + accepted.length === 0) return
    if (activations.length > 0 && this.#isStored(await store.activated(activations))) {
      for (const one of activations) drop(this.#activations, one.commit, one)
    }
    if (accepted.length > 0 && this.#isStored(await store.accepted(accepted))) {
      for (const commit of accepted) this.#accepted.delete(commit)
    }
    if (held.length > 0 && this.#isStored(await store.held(held))) {
      for (const one of held) drop(this.#held, one.commit, one)
    }
  }

  /** Activations on all nodes; while the store is away, those of this node that are not stored. */
  activationsOf = async (commits: readonly string[]): Promise<readonly CommitActivation[]> => {
    const { store, isThere } = this.#parts
    const found = isThere() ? await store.activationsOf(commits) : undefined
    const stored = found?.ok === true ? found.value : []
    const own = commits.flatMap((commit) => this.#activations.get(commit) ?? [])
    const isNew = ({ commit, node }: CommitActivation): boolean =>
      !stored.some((one) => one.commit === commit && one.node === node)
    return [...stored, ...own.filter(isNew)]
  }

  heldCommits = async (): Promise<readonly HeldCommit[]> => {
    const { store, isThere } = this.#parts
    const found = isThere() ? await store.heldCommits() : undefined
    const all = new Map<string, HeldCommit>()
    for (const one of found?.ok === true ? found.value : []) all.set(one.commit, one)
    for (const [commit, one] of this.#held) {
      all.set(commit, { ...one, heldAtMs: all.get(commit)?.heldAtMs ?? one.heldAtMs })
    }
    for (const commit of this.#accepted) all.delete(commit)
    return [...all.values()].toSorted((a, b) => b.heldAtMs - a.heldAtMs)
  }

  #isStored(done: Awaited<ReturnType<CommitRecords['activated']>>): boolean {
    if (!done.ok && !this.#isLogged) {
      const { message } = done.error
      this.#parts.log.warn({}, `what became of commits is not stored, tried again: ${message}`)
    }
    this.#isLogged = !done.ok
    return done.ok
  }
}

function add<T>(waiting: Map<string, T>, commit: string, one: T): void {
  waiting.delete(commit)
  waiting.set(commit, one)
  for (const oldest of waiting.keys()) {
    if (waiting.size <= commitRecordLimits.waitingMax) return
    waiting.delete(oldest)
  }
}

/** Keeps an entry that was replaced meanwhile. */
function drop<T>(waiting: Map<string, T>, commit: string, stored: T): void {
  if (waiting.get(commit) === stored) waiting.delete(commit)
}
