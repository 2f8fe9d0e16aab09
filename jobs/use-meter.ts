// Stores which names and members this node's answers have used, once a day for each, and which
// exist.
import type { Clock } from '#lib/clock.ts'
import { Mutex } from '#lib/mutex.ts'
import type { Log } from '#lib/log.ts'
import type { ObjectUses, UseKey, UseReport } from '#state/ports/object-use.ts'

interface Objects {
  /** Names with their final dot. */
  readonly names: readonly string[]
  /** Uids. */
  readonly members: readonly string[]
  /** Uids of response rules and redirects. */
  readonly rules: readonly string[]
}

export interface UseMeterParts {
  readonly store: Pick<ObjectUses, 'report' | 'keys'>
  /** False: the node's own database is not made yet. */
  readonly isThere: () => boolean
  /** Name of this node. */
  readonly node: string
  /** Since the last call. */
  readonly takeUsed: () => Objects
  /** Objects of the active bundle. null: there is none; `all` is null when they are too many. */
  readonly objects: () => { readonly digest: string; readonly all: () => Objects | null } | null
  readonly clock: Clock
  readonly log: Log
}

const dayMs = 24 * 3_600_000
/** Members whose changes wait for a database that is away; those of others are lost. */
const changedMembersMax = 100_000

export class UseMeter {
  readonly #parts: UseMeterParts
  /** Not stored yet; bounded as the configuration is: what is gone from it goes. */
  readonly #used = new Set<UseKey>()
  /** Used, and stored on this day already. */
  readonly #stored = new Set<UseKey>()
  #day = 0
  /** In the store, and in the configuration as it was looked at last. */
  #known: Set<UseKey> | null = null
  #digest = ''
  #changes = new Map<string, number>()
  #isLogged = false
  readonly #mutex = new Mutex()

  constructor(parts: UseMeterParts) {
    this.#parts = parts
  }

  /** A probe of this node has found a member up that was down, or the other way. */
  memberChanged(uid: string): void {
    const before = this.#changes.get(uid)
    if (before === undefined && this.#changes.size >= changedMembersMax) return
    this.#changes.set(uid, (before ?? 0) + 1)
  }

  /** Flushes run one after the other. */
  flush(isLast = false): Promise<void> {
    return this.#mutex.take(() => this.#flushOnce(isLast))
  }

  async #flushOnce(isLast: boolean): Promise<void> {
    const { isThere, objects, clock, node, store } = this.#parts
    const serving = objects()
    if (serving === null || !isThere()) return
    const nowMs = clock.nowMs()
    const day = Math.floor(nowMs / dayMs)
    if (day !== this.#day) this.#stored.clear()
    this.#day = day
    for (const key of keysOf(this.#parts.takeUsed())) {
      if (!this.#stored.has(key)) this.#used.add(key)
    }
    const there = await this.#whatIsThere(serving)
    // The objects are too many to list, or the store is away.
    if (there === null) return
    const used = [...this.#used].filter((key) => there.all.has(key))
    const changes = this.#changes
    this.#changes = new Map()
    const report = { node, nowMs, used, seen: there.seen, gone: there.gone, changes, isLast }
    const stored = await store.report(report satisfies UseReport)
    this.#tell(stored.ok ? '' : stored.error.message)
    if (!stored.ok) return this.#takeBack(changes)
    this.#known = there.all
    this.#digest = serving.digest
    this.#used.clear()
    for (const key of used) this.#stored.add(key)
    for (const key of there.gone) this.#stored.delete(key)
  }

  /** @returns null: the objects cannot be listed now */
  async #whatIsThere({ digest, all }: NonNullable<ReturnType<UseMeterParts['objects']>>) {
    if (digest === this.#digest && this.#known !== null) {
      return { all: this.#known, seen: [], gone: [] }
    }
    const objects = all()
    if (objects === null) {
      this.#used.clear()
      return null
    }
    const now = new Set(keysOf(objects))
    for (const key of this.#used) if (!now.has(key)) this.#used.delete(key)
    let known = this.#known
    if (known === null) {
      const stored = await this.#parts.store.keys()
      this.#tell(stored.ok ? '' : stored.error.message)
      if (!stored.ok) return null
      known = new Set(stored.value)
    }
    const seen = [...now].filter((key) => !known.has(key))
    return { all: now, seen, gone: [...known].filter((key) => !now.has(key)) }
  }

  #takeBack(changes: ReadonlyMap<string, number>): void {
    for (const [uid, count] of changes) {
      this.#changes.set(uid, (this.#changes.get(uid) ?? 0) + count)
    }
  }

  /** Logs once that the store is away; uses are still counted meanwhile. */
  #tell(fault: string): void {
    const { log } = this.#parts
    const isAway = fault !== ''
    if (isAway && !this.#isLogged) log.warn({}, `what answers use is not stored yet: ${fault}`)
    if (!isAway && this.#isLogged) log.info({}, 'what answers use is stored')
    this.#isLogged = isAway
  }
}

function* keysOf({ names, members, rules }: Objects): Generator<UseKey> {
  for (const name of names) yield `name ${name}`
  for (const uid of members) yield `member ${uid}`
  for (const uid of rules) yield `rule ${uid}`
}
