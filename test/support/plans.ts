// Plans between two models, for tests.
import type { BundleModel } from '#bundle/format/model.ts'
import { noRoutingTables } from '#routing/choose/environment.ts'
import { packNetworks } from '#routing/tables/network-index.ts'
import { noGeoBuffers } from '#routing/geo/geo-tables.ts'
import { changesOf } from '#judge/plan/changes.ts'
import { noPlaces, Partitions } from '#judge/clients/partition.ts'
import { Comparer } from '#judge/plan/compare.ts'
import type { WorkLimits } from '#judge/plan/compare.ts'
import type { MovementLimits } from '#judge/plan/movement.ts'
import { findDifferences } from '#judge/rows/names.ts'
import { createSide } from '#judge/sides/side.ts'
import type { Moment, Side } from '#judge/sides/side.ts'
import { makePlan, planLimits } from '#judge/plan/plan.ts'
import type { PlanRequest } from '#judge/plan/plan.ts'
import type { Plan } from '#judge/document/model.ts'
import { bundleOf } from './bundle-models.ts'

const side = (model: BundleModel, source: string) => {
  const bundle = bundleOf(model)
  return { source, bundle, tables: { ...noRoutingTables, networks: packNetworks(bundle) } }
}

const moment: Moment = { atMs: Date.UTC(2026, 0, 1), health: null }

/** Without databases, at the first instant of 2026. */
export const requestBetween = (base: BundleModel, head: BundleModel): PlanRequest => ({
  base: side(base, 'base'),
  head: side(head, 'head'),
  moments: [moment],
  geo: noGeoBuffers,
  scripts: null,
})

export function planBetween(
  base: BundleModel,
  head: BundleModel,
  more: Partial<PlanRequest> = {},
): Plan {
  return makePlan({ ...requestBetween(base, head), ...more })
}

/** The work of a comparison: names looked at, and clients asked for. */
export function workBetween(
  base: BundleModel,
  head: BundleModel,
  { limits = {}, work }: { limits?: Partial<MovementLimits>; work?: WorkLimits } = {},
) {
  const sides = [side(base, 'base'), side(head, 'head')] as const
  const [before, after] = sides.map((one) => createSide(one, moment, null)) as [Side, Side]
  const comparer = new Comparer({
    ...{ base: before, head: after, viewer: null },
    partitions: new Partitions(noPlaces),
    limits: { ...planLimits, ...limits },
    placeNames: { country: () => '', operator: () => '' },
    ...(work && { work }),
  })
  const differences = findDifferences(before.bundle, after.bundle)
  let names = 0
  const found = changesOf(comparer, before.bundle, after.bundle, differences, () => names++)
  return { changes: [...found], names, asked: comparer.asked, isSpent: comparer.isSpent }
}
