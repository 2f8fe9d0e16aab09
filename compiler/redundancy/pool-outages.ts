// Notes names that have no answer when a whole pool is down, for those who ask: most names have no
// fallback, and nobody wants to read that each time.
import { valueAt } from '#diagnostics/diagnostic.ts'
import { placeIn } from '#compiler/tree/tree.ts'
import type { Observe } from '#compiler/tree/observe.ts'
import { demandLabel, neededFamilyOf, poolDemands } from './pool-demand.ts'
import { canFail, needsPool, weakSpotOf } from './weak-spot.ts'

export const notePoolOutages: Observe = (tree, report) => {
  for (const demand of poolDemands(tree)) {
    if (!canFail(demand)) continue
    const { pool, service } = demand
    const family = neededFamilyOf(pool)
    // That less is enough has been noted.
    const isNoted = weakSpotOf(demand, family) !== undefined
    if (isNoted || !needsPool(demand, family)) continue
    const other = placeIn(pool, valueAt('spec', 'members'))
    const args = [`the pool "${pool.object.metadata.name}"`, demandLabel(demand), family.noun]
    report('weak-spot', placeIn(service, valueAt('spec', 'pool')), { args, other })
  }
}
