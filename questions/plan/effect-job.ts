// Computes the effect of a proposed change in short form, in a thread of its own.
import { adoptBundle, loadBundle } from '#bundle/load/load.ts'
import type { RoutingTables } from '#routing/choose/environment.ts'
import { packNetworks } from '#routing/tables/network-index.ts'
import { ok } from '#lib/result.ts'
import { shortSummary } from '#judge/print/short.ts'
import type { Moved } from '#compiler/lower/name-outline.ts'
import type { BundleCopy } from './bundle-copy.ts'
import { movesOf } from '#judge/effects/moved-between.ts'

/** The active bundle. With `digest` '' it is a signed file, not the form in memory. */
export interface EffectJob extends BundleCopy {
  readonly kind: 'effect'
  readonly tables: RoutingTables
  /** The bundle that would answer. */
  readonly next: Uint8Array
  readonly nowMs: number
}

export interface Effect {
  /** The effect, such as `moved=12.4%; names=3`. */
  readonly text: string
  /** See `MovedNames`. */
  readonly moved: readonly Moved[]
}

/** @returns null: it cannot be computed */
export function effectOf({ bundle: bytes, digest, tables, next, nowMs }: EffectJob): Effect | null {
  const loaded = loadBundle(next)
  if (!loaded.ok) return null
  const before = digest === '' ? loadBundle(bytes) : ok(adoptBundle(bytes, digest))
  if (!before.ok) return null
  const bundle = before.value
  // Tables belong to the active bundle.
  const was = digest === '' ? { ...tables, networks: packNetworks(bundle) } : tables
  // Regions and operators are those of now: places that the change would add are not seen.
  const after = { ...tables, networks: packNetworks(loaded.value) }
  const { moved, summary } = movesOf({
    base: { source: '', bundle, tables: was },
    head: { source: '', bundle: loaded.value, tables: after },
    moments: [{ atMs: nowMs, health: null }],
    geo: tables.geo,
    scripts: null,
  })
  return { text: shortSummary(summary), moved }
}
