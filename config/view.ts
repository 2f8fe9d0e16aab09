// Holds the accepted configuration on the main thread: without Git, SQL or waiting.
import { assert } from '#lib/assert.ts'
import { KeptSnapshot } from './kept-objects.ts'
import { ConfigIndex } from './object-index.ts'
import type { ConfigDelta, ConfigSnapshot } from './object-index.ts'
import type { ConfigEntry } from './entry.ts'

export interface ConfigChange {
  readonly before: ConfigSnapshot
  readonly after: ConfigSnapshot
  readonly created: readonly ConfigEntry[]
  readonly updated: readonly { readonly before: ConfigEntry; readonly after: ConfigEntry }[]
  readonly deleted: readonly ConfigEntry[]
}

export interface ConfigView {
  /**
   * Returns the current snapshot, which never changes; a later commit has its own. Not to be called
   * before `isReady`.
   */
  readonly snapshot: () => ConfigSnapshot
  /** True once the accepted commit was read, or it is known that no commit was ever accepted. */
  readonly isReady: () => boolean
  /**
   * Calls the handler after each commit that becomes active here, by the API or by a push, but not
   * for the first one, which makes the view ready. Returns a function that removes the handler.
   */
  readonly onChange: (handler: (change: ConfigChange) => void) => () => void
}

export interface ConfigNews extends ConfigDelta {
  /** Whether the delta has every object, so that objects it lacks are removed. */
  readonly isWhole: boolean
  /** All objects encoded by `encodeObjects`, in place of `changed`. */
  readonly objects?: Uint8Array
}

/** News of a node that never accepted a commit: the branch has none, or its commit is held. */
export const noConfig: ConfigNews = Object.freeze({
  isWhole: true,
  revision: '',
  changed: [],
  removed: [],
})

export class LiveConfigView implements ConfigView {
  #now: ConfigIndex | KeptSnapshot = ConfigIndex.empty
  #isReady = false
  readonly #handlers = new Set<(change: ConfigChange) => void>()

  snapshot = (): ConfigSnapshot => {
    assert(this.#isReady, 'nobody looks at the configuration before it has been read')
    return this.#now
  }

  isReady = (): boolean => this.#isReady

  onChange = (handler: (change: ConfigChange) => void): (() => void) => {
    this.#handlers.add(handler)
    return () => this.#handlers.delete(handler)
  }

  apply({ isWhole, objects, ...news }: ConfigNews): void {
    // A restarted worker repeats this news.
    if (news.revision === '' && this.#isReady) return
    const isFirst = !this.#isReady
    this.#isReady = true
    if (objects !== undefined) {
      const kept = new KeptSnapshot(news.revision, objects)
      // After an empty configuration everything is new; kinds are decoded when they are first read.
      if (this.#now.revision === '') return this.#begin(kept, isFirst)
      news = { ...news, changed: [...kept.index().all()] }
    }
    const before = this.#now instanceof KeptSnapshot ? this.#now.index() : this.#now
    const delta = isWhole ? before.deltaTo(news.revision, news.changed) : news
    const after = before.with(delta)
    this.#now = after
    if (isFirst || this.#handlers.size === 0) return
    this.#tell({ before, after, ...sorted(before, delta) })
  }

  #begin(after: KeptSnapshot, isFirst: boolean): void {
    const before = this.#now
    this.#now = after
    if (isFirst) return
    const created = (): readonly ConfigEntry[] => [...after.index().all()]
    this.#tell({
      ...{ before, after, updated: [], deleted: [] },
      get created() {
        return created()
      },
    })
  }

  #tell(change: ConfigChange): void {
    for (const handler of this.#handlers) handler(change)
  }
}

function sorted(
  before: ConfigIndex,
  { changed, removed }: ConfigDelta,
): Pick<ConfigChange, 'created' | 'updated' | 'deleted'> {
  const created: ConfigEntry[] = []
  const updated: { before: ConfigEntry; after: ConfigEntry }[] = []
  for (const after of changed) {
    const old = before.get(after.kind, after.uid)
    if (old === undefined) created.push(after)
    else updated.push({ before: old, after })
  }
  const deleted = removed.flatMap(({ kind, uid }) => before.get(kind, uid) ?? [])
  return { created, updated, deleted }
}
