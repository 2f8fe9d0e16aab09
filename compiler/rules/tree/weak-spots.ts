// Notes names that one failure leaves without an answer.
import { valueAt } from '#diagnostics/diagnostic.ts'
import { demandLabel, neededFamilyOf, poolDemands } from '#compiler/redundancy/pool-demand.ts'
import { canFail, weakSpotOf } from '#compiler/redundancy/weak-spot.ts'
import { placeIn } from '#compiler/tree/tree.ts'
import type { TreeRule } from './tree-rule.ts'

export const weakSpots: TreeRule = {
  name: 'weak-spots',
  check({ tree }, report) {
    for (const demand of poolDemands(tree)) {
      if (!canFail(demand)) continue
      const { pool, service } = demand
      const family = neededFamilyOf(pool)
      const weak = weakSpotOf(demand, family)
      if (weak === undefined) continue
      const other = placeIn(pool, valueAt('spec', 'members'))
      const args = [weak, demandLabel(demand), family.noun]
      report('weak-spot', placeIn(service, valueAt('spec', 'pool')), { args, other })
    }
  },
}
