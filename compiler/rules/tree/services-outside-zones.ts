// Points out services in no declared zone: mostly their domain, or the zone, is misspelt.
import { suggest } from '#lib/suggest.ts'
import { valueAt } from '#diagnostics/diagnostic.ts'
import { checkName } from '#compiler/values/names.ts'
import { enclosingNames } from '#dns/enclosing-names.ts'
import { placeIn } from '#compiler/tree/tree.ts'
import type { TreeRule } from './tree-rule.ts'

/** Each compares the name with every zone. */
const suggestedMax = 20

export const servicesOutsideZones: TreeRule = {
  name: 'services-outside-zones',
  check({ tree, zones }, report) {
    // Without `defaults`, `defaults-missing` speaks of the first of them.
    if (zones === undefined || zones.declaredAt.size === 0 || !zones.hasDefaults) return
    const { declaredAt, zoneOfService } = zones
    let found = 0
    for (const [i, entry] of tree.of.Service.entries()) {
      const { domainKey } = entry.file
      if (domainKey === undefined || zoneOfService[i]! < declaredAt.size) continue
      // What is no name is told as such.
      if (checkName(entry.object.spec.domain, true).fault !== undefined) continue
      const isSuggested = found++ < suggestedMax
      const suggestion = isSuggested ? nearestName(domainKey, declaredAt.keys()) : undefined
      const at = placeIn(entry, valueAt('spec', 'domain'))
      report('service-outside-zones', at, { args: [domainKey], suggestion: suggestion ?? '' })
    }
  },
}

/** The name as it would be in the zone that its end is most like. */
export function nearestName(name: string, zones: Iterable<string>): string | undefined {
  const known = [...zones]
  for (const end of [name, ...enclosingNames(name)]) {
    const labels = end.split('.').length
    const zone = suggest(
      end,
      known.filter((one) => one.split('.').length === labels),
    )
    if (zone !== undefined) return name.slice(0, -end.length) + zone
  }
  return undefined
}
