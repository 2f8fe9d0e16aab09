// Defines the port by which a commit, made or proposed, reports what it does to answers.
import type { Moved } from '#compiler/lower/name-outline.ts'
import { readRecords } from '#compiler/values/record-sets.ts'
import type { ConfigEntry } from '#config/entry.ts'
import type { QuickReason } from '#judge/plan/quick-effect.ts'
import type { TenantViewer, Viewer } from '#judge/sides/viewer.ts'

export interface CommitBundle {
  readonly bytes: Uint8Array
  readonly digest: string
}

/**
 * @param viewer whose answers are counted, when the commit holds changes of others; null: all are
 *
 * @returns such as `moved=12.4%; names=3`
 */
type EffectText = (viewer: Viewer) => string

/** `first`: nothing was published before. */
type UnknownReason = QuickReason | 'first'

export interface CommitEffect {
  /** Each name of which clients go elsewhere, or start to come. */
  readonly moved: readonly Moved[] | UnknownReason
  /** The effect in text; left out: it is not known. */
  readonly text?: EffectText
}

/**
 * Compares the bundle of a commit with the one before, in bounded time.
 */
export interface CommitEffects {
  /** @param before null: no bundle was published before */
  readonly between: (before: CommitBundle | null, after: CommitBundle) => CommitEffect
  /** Compares some names only, in a configuration of any size: few of them may differ. */
  readonly movedOf: (
    names: ReadonlySet<string>,
    before: CommitBundle,
    after: CommitBundle,
  ) => CommitEffect['moved']
  /** Drops the databases in use, because there are others. */
  readonly renew: () => void
}

/** Databases of the node that locate clients, in shared memory; only passed on here. */
export type NodeDatabases = object

export interface EffectParts {
  /** Whether the settings name a database. */
  readonly hasDatabases: boolean
  /** null: none is loaded yet. When a database changes, this is another object. */
  readonly databases: () => NodeDatabases | null
}

/** The effect of a commit that changes no answer. */
export const noEffect = 'moved=0%; names=0'

/** @param entries objects that a commit changes, as they were and as they are */
export function viewerOf(tenant: string, entries: Iterable<ConfigEntry>): TenantViewer {
  const names = new Set<string>()
  for (const entry of entries) {
    if (entry.kind !== 'Records' || entry.tenant !== tenant) continue
    const { rrsets } = readRecords((entry as ConfigEntry<'Records'>).object.spec)
    for (const { name } of rrsets) names.add(name)
  }
  return { tenant, names }
}
