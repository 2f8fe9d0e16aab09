// What a change does, for who waits for it: the figures of a plan, or why they would take too long.
import type { Bundle } from '#bundle/format/bundle.ts'
import { overlaysOf } from '#bundle/format/overlays.ts'
import { formatName } from '#dns/name.ts'
import { noRoutingTables } from '#routing/choose/environment.ts'
import { packNetworks } from '#routing/tables/network-index.ts'
import { changesOf, summaryOf } from './changes.ts'
import { Partitions, noPlaces } from './clients/partition.ts'
import { Comparer } from './compare.ts'
import { findDifferences } from './rows/names.ts'
import { laterChanges } from './rows/later.ts'
import { createSide, SideMemory } from './sides/side.ts'
import type { Moment, Side } from './sides/side.ts'
import { seesName } from './sides/viewer.ts'
import type { Viewer } from './sides/viewer.ts'
import type { AnswerChange, PlanSummary } from './model.ts'

/** Beyond, a write says why it does not tell its effect. */
export const quickLimits = Object.freeze({
  /** Names of a bundle: comparing two of so many takes 0.1 s. */
  comparedMax: 200_000,
  /** Names that may differ. */
  namesMax: 256,
  /** Clients that are asked for, of all names: some 0.1 s. */
  asksMax: 65_536,
  /** Rows of client networks of one name. */
  rowsMax: 16_384,
  /** As in a dry run. */
  networksMax: 8_192,
})

/**
 * `size`, `names`, `networks`: more than `quickLimits`. `places`: it depends on where clients are,
 * or on what browsers have measured.
 */
export type QuickReason = 'size' | 'names' | 'networks' | 'places'

export interface QuickEffect {
  readonly ok: true
  /** @param viewer of whose names; null: of all */
  readonly of: (viewer: Viewer) => PlanSummary
}

export interface QuickParts {
  /** Unix epoch. */
  readonly nowMs: () => number
  /** Whether the node has databases that tell where clients are: they are not looked at here. */
  readonly hasDatabases: boolean
}

/** Compares one change after the other. What was the head before need not be set up again. */
export class QuickEffects {
  readonly #parts: QuickParts
  #last: { readonly bundle: Bundle; readonly side: Side } | undefined
  /** Of both sides, in turns. */
  readonly #memory = [new SideMemory(), new SideMemory()] as const

  constructor(parts: QuickParts) {
    this.#parts = parts
  }

  between(
    base: Bundle,
    head: Bundle,
  ): QuickEffect | { readonly ok: false; readonly reason: QuickReason } {
    const refused = (reason: QuickReason) => ({ ok: false, reason }) as const
    const compared = Math.max(base.counts.nodes, head.counts.nodes)
    if (compared > quickLimits.comparedMax) return refused('size')
    const differences = findDifferences(base, head)
    if (differences.names.length > quickLimits.namesMax) return refused('names')
    const changes: AnswerChange[] = []
    if (differences.names.length > 0) {
      const comparer = this.#comparer(base, head)
      changes.push(...changesOf(comparer, base, head, differences))
      if (comparer.isSpent) return refused(comparer.isDivided ? 'places' : 'networks')
    }
    const shown = new Set(changes.map(({ name }) => name))
    const later = laterChanges(base, head, differences, shown, false)
    return {
      ok: true,
      of: (viewer) => {
        const own = changes.filter(({ name, tenant }) => {
          return seesName(viewer, name, tenant === '' ? [] : [tenant])
        })
        const names = differences.names.filter(({ qname }) => shown.has(formatName(qname)))
        const theirs = later.filter(({ tenant }) => viewer === null || tenant === viewer.tenant)
        return summaryOf(own, { ...differences, names }, theirs.length)
      },
    }
  }

  #comparer(base: Bundle, head: Bundle): Comparer {
    const { asksMax, rowsMax, networksMax } = quickLimits
    const takesTables = !this.#parts.hasDatabases
    const [before, after] = this.#sides(base, head)
    return new Comparer({
      base: before,
      head: after,
      partitions: new Partitions(noPlaces),
      limits: { networksMax, scriptRunsMax: 0 },
      work: { asksMax, rowsMax, takesTables },
      placeNames: { country: () => '', operator: () => '' },
      viewer: null,
      counting: null,
    })
  }

  /** @returns of the base and of the head, which the next change will stand on. */
  #sides(base: Bundle, head: Bundle): readonly [Side, Side] {
    const moment = { atMs: this.#parts.nowMs(), health: null }
    const known = this.#last?.bundle === base ? this.#last.side : undefined
    const [one, other] = this.#memory
    const before = known ?? sideOf(base, moment, one)
    const after = sideOf(head, moment, before.tx === other.tx ? one : other)
    const { rollouts, windows } = overlaysOf(head)
    // These go by the time, and are looked at anew.
    const isLasting = rollouts.length + windows.length === 0
    this.#last = isLasting ? { bundle: head, side: after } : undefined
    return [before, after]
  }
}

function sideOf(bundle: Bundle, moment: Moment, memory: SideMemory): Side {
  const tables = { ...noRoutingTables, networks: packNetworks(bundle) }
  return createSide({ bundle, tables }, moment, null, memory)
}
