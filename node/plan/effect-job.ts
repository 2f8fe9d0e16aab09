// The effect of a change that is not made, in short, as it runs in a thread of its own.
import { adoptBundle, loadBundle } from '#bundle/load/load.ts'
import type { RoutingTables } from '#routing/choose/environment.ts'
import { packNetworks } from '#routing/tables/network-index.ts'
import { ok } from '#lib/result.ts'
import { makePlan } from '#judge/plan/plan.ts'
import { shortSummary } from '#judge/print/short.ts'
import type { Moved } from '#compiler/lower/name-outline.ts'
import type { BundleCopy } from './bundle-copy.ts'
import { MovedNames } from '#judge/effects/moved-between.ts'

/** `digest` '': the bundle is a signed file, not as it is in memory. */
export interface EffectJob extends BundleCopy {
  readonly kind: 'effect'
  readonly tables: RoutingTables
  /** What would answer. */
  readonly next: Uint8Array
  readonly nowMs: number
}

/** Fewer than a plan for people asks: the share is told with one digit behind the point. */
const networksMax = 8_192

export interface Effect {
  /** Such as `moved=12.4%; names=3`. */
  readonly text: string
  /** See `MovedNames`. */
  readonly moved: readonly Moved[]
}

/** null: it cannot be told. */
export function effectOf({ bundle: bytes, digest, tables, next, nowMs }: EffectJob): Effect | null {
  const loaded = loadBundle(next)
  if (!loaded.ok) return null
  const before = digest === '' ? loadBundle(bytes) : ok(adoptBundle(bytes, digest))
  if (!before.ok) return null
  const bundle = before.value
  // Tables are of the bundle that answers.
  const was = digest === '' ? { ...tables, networks: packNetworks(bundle) } : tables
  // Regions and operators are told apart as now: what the change would add there is not seen.
  const after = { ...tables, networks: packNetworks(loaded.value) }
  const moved = new MovedNames()
  const { summary } = makePlan({
    base: { source: '', bundle, tables: was },
    head: { source: '', bundle: loaded.value, tables: after },
    moments: [{ atMs: nowMs, health: null }],
    geo: tables.geo,
    scripts: null,
    limits: { networksMax },
    onChange: (change) => moved.add(change),
    listedEntriesMax: 0,
  })
  return { text: shortSummary(summary), moved: moved.all }
}
