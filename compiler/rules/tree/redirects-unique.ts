// Checks that a host has one redirect across tenants, whatever its case and trailing dot.
import { valueAt } from '#diagnostics/diagnostic.ts'
import { checkHostPattern } from '#compiler/values/names.ts'
import type { TreeRule } from './tree-rule.ts'
import { placeIn } from '#compiler/tree/tree.ts'
import type { Entry } from '#compiler/tree/tree.ts'

export const redirectsUnique: TreeRule = {
  name: 'redirects-unique',
  check({ tree }, report) {
    const place = valueAt('spec', 'sourceFqdn')
    const firstOf = new Map<string, Entry<'Redirect'>>()
    for (const entry of tree.of.Redirect) {
      const { key } = checkHostPattern(entry.object.spec.sourceFqdn)
      if (key === undefined) continue
      const first = firstOf.get(key)
      if (first === undefined) firstOf.set(key, entry)
      else {
        const other = placeIn(first, place)
        report('redirect-source-duplicate', placeIn(entry, place), { args: [key], other })
      }
    }
  },
}
