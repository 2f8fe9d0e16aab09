// Checks that names outside every declared zone have default name servers.
import { valueAt } from '#diagnostics/diagnostic.ts'
import { nearestName } from './services-outside-zones.ts'
import type { TreeRule } from './tree-rule.ts'
import { checkName } from '#compiler/values/names.ts'
import { placeIn } from '#compiler/tree/tree.ts'
import { builtInNameserver } from '#compiler/lower/zone-plan.ts'

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
    const { domainKey } = first.file
    const isName = checkName(first.object.spec.domain, true).fault === undefined
    const nearest =
      domainKey !== undefined && isName && nearestName(domainKey, zones.declaredAt.keys())
    const detail = { args: [first.object.spec.domain, builtInNameserver] }
    report('defaults-missing', at, nearest ? { ...detail, suggestion: nearest } : detail)
  },
}
