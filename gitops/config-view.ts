// The accepted configuration for readers on the main thread: no Git, no SQL, no waiting.
import { ConfigIndex } from './config-index.ts'
import type { ConfigDelta, ConfigSnapshot } from './config-index.ts'
import type { ConfigEntry } from './config-entry.ts'

export interface ConfigChange {
  readonly before: ConfigSnapshot
  readonly after: ConfigSnapshot
  readonly created: readonly ConfigEntry[]
  readonly updated: readonly { readonly before: ConfigEntry; readonly after: ConfigEntry }[]
  readonly deleted: readonly ConfigEntry[]
}

export interface ConfigView {
  /** Never changes; a later commit makes another one. */
  readonly snapshot: () => ConfigSnapshot
  /** True from the first accepted commit on. */
  readonly isReady: () => boolean
  /**
   * Told after each commit that is active here, whether it came by the API or by a push; not for
   * the first one. Returns what ends it.
   */
  readonly onChange: (handler: (change: ConfigChange) => void) => () => void
}

/** @param isWhole the delta has every object: what it does not name is gone */
export interface ConfigNews extends ConfigDelta {
  readonly isWhole: boolean
}

export class LiveConfigView implements ConfigView {
  #index = ConfigIndex.empty
  readonly #handlers = new Set<(change: ConfigChange) => void>()

  snapshot = (): ConfigSnapshot => this.#index

  isReady = (): boolean => this.#index !== ConfigIndex.empty

  onChange = (handler: (change: ConfigChange) => void): (() => void) => {
    this.#handlers.add(handler)
    return () => this.#handlers.delete(handler)
  }

  apply({ isWhole, ...news }: ConfigNews): void {
    const before = this.#index
    const delta = isWhole ? before.deltaTo(news.revision, news.changed) : news
    const after = before.with(delta)
    const isFirst = before === ConfigIndex.empty
    this.#index = after
    if (isFirst || this.#handlers.size === 0) return
    const change = { before, after, ...sorted(before, delta) }
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
