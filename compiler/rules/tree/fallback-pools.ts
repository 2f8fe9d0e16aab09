// Checks that a fallback pool is another pool, and has somebody to answer with.
import { valueAt } from '#diagnostics/diagnostic.ts'
import { neededFamilyOf } from '#compiler/redundancy/pool-demand.ts'
import { fallbackPoolOf } from '#compiler/tree/fallback.ts'
import { targetOf } from '#compiler/values/member-target.ts'
import type { TreeRule } from './tree-rule.ts'
import { placeIn } from '#compiler/tree/tree.ts'
import type { Entry } from '#compiler/tree/tree.ts'

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
      else if (pool?.tenant !== entry.tenant) continue
      else if (pool.object.spec.members.length === 0) {
        report('fallback-pool-empty', at, { args: [name] })
      } else if (spec.weakSpots) {
        const from = spec.pool === null ? undefined : tree.poolNamed.get(spec.pool)
        const why = whyNowhere(pool, from)
        if (why !== undefined) report('fallback-ends-nowhere', at, { args: [name, why] })
      }
    }
  },
}

/**
 * Says in words why the fallback cannot answer when it is needed. Findings about the pool itself
 * cover disabled members, and fewer members than `minHealthy`.
 *
 * @param from the pool that has no member left
 */
function whyNowhere(
  { object: { spec } }: Entry<'Pool'>,
  from: Entry<'Pool'> | undefined,
): string | undefined {
  const enabled = spec.members.filter((member) => member.enabled)
  if (from === undefined || enabled.length === 0) return undefined
  const { noun, has } = neededFamilyOf(from)
  if (!enabled.some(has)) return `it has no ${noun}`
  // One that is not probed counts as healthy, and that may be meant.
  if (spec.healthCheck === undefined) return undefined
  const first = new Set(from.object.spec.members.map(targetOf))
  if (!enabled.every((member) => first.has(targetOf(member)))) return undefined
  return `each of its members is one of "${from.object.metadata.name}", too`
}
