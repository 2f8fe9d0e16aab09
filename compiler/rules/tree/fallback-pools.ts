// Checks that a fallback pool is another pool and has members.
import { valueAt } from '#compiler/diagnostics/diagnostic.ts'
import { fallbackPoolOf } from '#compiler/tree/fallback.ts'
import type { TreeRule } from './tree-rule.ts'
import { placeIn } from '#compiler/tree/tree.ts'

export const fallbackPools: TreeRule = {
  name: 'fallback-pools',
  check({ tree }, report) {
    for (const entry of tree.of.Service) {
      const { spec } = entry.object
      const name = fallbackPoolOf(spec)
      if (name === undefined) continue
      const at = placeIn(entry, valueAt('spec', 'onAllDown'))
      const pool = tree.poolNamed.get(name)
      if (name === spec.pool) report('fallback-pool-same', at, { args: [name] })
      else if (pool?.tenant === entry.tenant && pool.object.spec.members.length === 0) {
        report('fallback-pool-empty', at, { args: [name] })
      }
    }
  },
}
