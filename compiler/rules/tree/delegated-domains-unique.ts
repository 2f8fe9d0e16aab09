// Checks that a delegated domain, and what is below it, belongs to one tenant.
import { valueAt } from '#diagnostics/diagnostic.ts'
import { checkHostName } from '#compiler/values/names.ts'
import { enclosingNames } from '#dns/enclosing-names.ts'
import type { TreeRule } from './tree-rule.ts'
import { placeIn } from '#compiler/tree/tree.ts'
import type { Entry } from '#compiler/tree/tree.ts'

export const delegatedDomainsUnique: TreeRule = {
  name: 'delegated-domains-unique',
  check({ tree }, report) {
    const place = valueAt('spec', 'domain')
    const ownerOf = new Map<string, Entry<'DelegatedDomain'>>()
    for (const entry of tree.of.DelegatedDomain) {
      const { key } = checkHostName(entry.object.spec.domain)
      if (key === undefined) continue
      const first = ownerOf.get(key)
      if (first === undefined) ownerOf.set(key, entry)
      else {
        const other = placeIn(first, place)
        report('delegated-domain-duplicate', placeIn(entry, place), { args: [key], other })
      }
    }
    for (const [key, entry] of ownerOf) {
      const outerName = enclosingNames(key).find((name) => ownerOf.has(name))
      if (outerName === undefined) continue
      const outer = ownerOf.get(outerName)!
      if (outer.tenant === entry.tenant) continue
      const args = [key, outerName, outer.tenant]
      const other = placeIn(outer, place)
      report('delegated-domain-overlap', placeIn(entry, place), { args, other })
    }
  },
}
