// Computes the effect of a write while its client waits: the figures of a plan, or why they would
// take too long.
import type { Bundle } from '#bundle/format/bundle.ts'
import { overlaysOf } from '#bundle/format/overlays.ts'
import { formatName } from '#dns/name.ts'
import { noRoutingTables } from '#routing/choose/environment.ts'
import type { RoutingTables } from '#routing/choose/environment.ts'
import type { GeoBuffers } from '#routing/geo/geo-tables.ts'
import { packNetworks } from '#routing/tables/network-index.ts'
import { changesOf } from './changes.ts'
import { Partitions, noPlaces } from '#judge/clients/partition.ts'
import { Tallies } from '#judge/clients/tallies.ts'
import { Comparer } from './compare.ts'
import { findDifferences, tenantsOfName } from '#judge/rows/names.ts'
import type { NameDifference } from '#judge/rows/names.ts'
import { laterChanges } from '#judge/rows/later.ts'
import { createSide, SideMemory } from '#judge/sides/side.ts'
import type { Moment, Side } from '#judge/sides/side.ts'
import { seesName } from '#judge/sides/viewer.ts'
import type { Viewer } from '#judge/sides/viewer.ts'
import { Totals } from './totals.ts'
import type { AnswerChange, PlanSummary } from '#judge/document/model.ts'

/**
 * Limits of a quick comparison. A larger write does not report its effect, and is judged by a plan.
 */
export const quickLimits = Object.freeze({
  /** Names of the larger bundle: comparing two of this size takes 0.1 s where few names differ. */
  comparedMax: 200_000,
  /** Names that may differ. */
  namesMax: 256,
  /** Names that may differ when only some are compared: the others are found, and not compared. */
  foundMax: 16_384,
  /** Classes of clients, and single networks, asked for over all names: some 0.1 s. */
  asksMax: 65_536,
  /** Rows of client networks that are read, over all names. */
  rowsMax: 65_536,
  /** The same where databases locate clients, once for each of them: some 0.5 s. */
  placedRowsMax: 2_000_000,
  /** Networks asked for, as in a dry run. */
  networksMax: 8_192,
})

type QuickLimits = { readonly [name in keyof typeof quickLimits]: number }

/**
 * `size`, `names`, `networks`: beyond `quickLimits`. `places`: the answer depends on where clients
 * are, and the databases are not loaded yet; or on measurements of browsers.
 */
export type QuickReason = 'size' | 'names' | 'networks' | 'places'

interface QuickEffect {
  readonly ok: true
  readonly changes: readonly AnswerChange[]
  /**
   * Sums up the changes that a viewer may see.
   *
   * @param viewer of some names only; null: of all
   */
  readonly of: (viewer: Viewer) => PlanSummary
}

interface QuickParts {
  /** Unix epoch. */
  readonly nowMs: () => number
  readonly places: () => KnownPlaces | PlacesState
}

/** `none`: the node has no databases that locate clients. `unread`: they are not loaded yet. */
export type PlacesState = 'none' | 'unread'

/** The places of clients by the databases of a node. */
export class KnownPlaces {
  readonly classes: Tallies
  readonly tablesOf: (bundle: Bundle) => RoutingTables

  /** @param tablesOf returns the tables for a bundle; for equal settings they share memory */
  constructor(geo: GeoBuffers, tablesOf: (bundle: Bundle) => RoutingTables) {
    this.classes = new Tallies(geo)
    this.tablesOf = tablesOf
  }
}

interface LastHead {
  readonly bundle: Bundle
  readonly places: KnownPlaces | PlacesState
  readonly side: Side
}

/** Compares one change after the other. The head of the last one is set up already as a base. */
export class QuickEffects {
  readonly #parts: QuickParts
  readonly #limits: QuickLimits
  #last: LastHead | undefined
  /** Memory for each side; a head that becomes the next base keeps its own. */
  readonly #memory = [new SideMemory(), new SideMemory()] as const

  constructor(parts: QuickParts, limits: Partial<QuickLimits> = {}) {
    this.#parts = parts
    this.#limits = { ...quickLimits, ...limits }
  }

  /** @param only names to compare; left out: all, unless they are too many */
  between(
    base: Bundle,
    head: Bundle,
    only?: ReadonlySet<string>,
  ): QuickEffect | { readonly ok: false; readonly reason: QuickReason } {
    const refused = (reason: QuickReason) => ({ ok: false, reason }) as const
    const { namesMax, foundMax, comparedMax } = this.#limits
    const compared = Math.max(base.counts.nodes, head.counts.nodes)
    if (only === undefined && compared > comparedMax) return refused('size')
    const most = only === undefined ? namesMax : foundMax
    const found = findDifferences(base, head, most)
    if (found.names.length > most) return refused('names')
    const isMeant = ({ qname }: NameDifference): boolean => only?.has(formatName(qname)) ?? true
    const differences = { ...found, names: found.names.filter(isMeant) }
    if (differences.names.length > namesMax) return refused('names')
    const changes: AnswerChange[] = []
    if (differences.names.length > 0) {
      const comparer = this.#comparer(base, head)
      changes.push(...changesOf(comparer, base, head, differences))
      if (comparer.isSpent) return refused(comparer.isDivided ? 'places' : 'networks')
    }
    const shown = new Set(changes.map(({ name }) => name))
    const tenants = new Map(
      differences.names.map((one) => [formatName(one.qname), tenantsOfName(base, head, one)]),
    )
    const later = laterChanges(base, head, differences, shown, false)
    return {
      ok: true,
      changes,
      of: (viewer) => {
        const totals = new Totals()
        for (const change of changes) {
          if (seesName(viewer, change.name, tenants.get(change.name)!)) totals.add(change)
        }
        const theirs = later.filter(({ tenant }) => viewer === null || tenant === viewer.tenant)
        return totals.summary(differences, theirs.length)
      },
    }
  }

  #comparer(base: Bundle, head: Bundle): Comparer {
    const { asksMax, rowsMax, placedRowsMax, networksMax } = this.#limits
    const places = this.#parts.places()
    const isKnown = places instanceof KnownPlaces
    const [before, after] = this.#sides(base, head, places)
    return new Comparer({
      base: before,
      head: after,
      partitions: isKnown ? places.classes : new Partitions(noPlaces),
      limits: { networksMax, scriptRunsMax: 0 },
      work: {
        asksMax,
        rowsMax: isKnown ? placedRowsMax : rowsMax,
        takesTables: places !== 'unread',
      },
      placeNames: { country: () => '', operator: () => '' },
      viewer: null,
    })
  }

  /** @returns the sides of the base and of the head, on which the next change will build */
  #sides(base: Bundle, head: Bundle, places: KnownPlaces | PlacesState): readonly [Side, Side] {
    const moment = { atMs: this.#parts.nowMs(), health: null }
    const last = this.#last
    const known = last?.bundle === base && last.places === places ? last.side : undefined
    const [one, other] = this.#memory
    const before = known ?? sideOf(base, places, moment, one)
    const after = sideOf(head, places, moment, before.tx === other.tx ? one : other)
    const { rollouts, windows } = overlaysOf(head)
    // Rollouts and windows depend on the time: a side that has any is not kept.
    const isLasting = rollouts.length + windows.length === 0
    this.#last = isLasting ? { bundle: head, places, side: after } : undefined
    return [before, after]
  }
}

function sideOf(
  bundle: Bundle,
  places: KnownPlaces | PlacesState,
  moment: Moment,
  memory: SideMemory,
): Side {
  const known = places instanceof KnownPlaces ? places.tablesOf(bundle) : noRoutingTables
  const tables = { ...known, networks: packNetworks(bundle) }
  return createSide({ bundle, tables }, moment, null, memory)
}
