// Checks that names outside every declared zone have default name servers.
import { valueAt } from '#compiler/diagnostics/diagnostic.ts'
import type { TreeRule } from './tree-rule.ts'
import { placeIn } from '#compiler/tree/tree.ts'
import { builtInNameserver } from '#compiler/plan/zone-plan.ts'

export const defaultsPresent: TreeRule = {
  name: 'defaults-present',
  check({ tree, zones }, report) {
    if (zones === undefined || zones.hasDefaults) return
    // Once, for the first such name: the remedy is one line in one file.
    const first = tree.of.Service.find(
      (_, i) => zones.zones[zones.zoneOfService[i]!]?.isImplied === true,
    )
    if (first === undefined) return
    const at = placeIn(first, valueAt('spec', 'domain'))
    report('defaults-missing', at, { args: [first.object.spec.domain, builtInNameserver] })
  },
}
