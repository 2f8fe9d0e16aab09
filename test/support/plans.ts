// Plans between two models, for tests.
import type { BundleModel } from '#bundle/format/model.ts'
import { noRoutingTables } from '#routing/choose/environment.ts'
import { packNetworks } from '#routing/tables/network-index.ts'
import { noGeoBuffers } from '#routing/geo/geo-tables.ts'
import { makePlan } from '#judge/plan/plan.ts'
import type { PlanRequest } from '#judge/plan/plan.ts'
import type { Plan } from '#judge/document/model.ts'
import { bundleOf } from './bundle-models.ts'

const side = (model: BundleModel, source: string) => {
  const bundle = bundleOf(model)
  return { source, bundle, tables: { ...noRoutingTables, networks: packNetworks(bundle) } }
}

/** Without databases; at the first instant of 2026 where nothing is said. */
export function planBetween(
  base: BundleModel,
  head: BundleModel,
  more: Partial<PlanRequest> = {},
): Plan {
  return makePlan({
    base: side(base, 'base'),
    head: side(head, 'head'),
    moments: [{ atMs: Date.UTC(2026, 0, 1), health: null }],
    geo: noGeoBuffers,
    scripts: null,
    ...more,
  })
}
