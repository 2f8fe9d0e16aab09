// Notes names that have no answer when a whole pool is down, for those who ask: most names have no
// fallback, and nobody wants to read that each time.
import type { Observe } from '#compiler/tree/observe.ts'
import { neededFamilyOf, poolDemands } from './pool-demand.ts'
import { canFail, needsPool, reportWeakSpot, weakSpotOf } from './weak-spot.ts'

export const notePoolOutages: Observe = (tree, report) => {
  for (const demand of poolDemands(tree)) {
    if (!canFail(demand)) continue
    const { pool } = demand
    const family = neededFamilyOf(pool)
    // That less is enough has been noted.
    const isNoted = weakSpotOf(demand, family) !== undefined
    if (isNoted || !needsPool(demand, family)) continue
    reportWeakSpot(demand, `the pool "${pool.object.metadata.name}"`, family, report)
  }
}
