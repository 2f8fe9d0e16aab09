// One name has one service, across tenants, whatever its case and trailing dot.
import { valueAt } from '../diagnostic.ts'
import type { TreeRule } from '../tree-rule.ts'
import { placeIn } from '../tree.ts'
import type { Entry } from '../tree.ts'

export const domainsUnique: TreeRule = {
  name: 'domains-unique',
  check({ tree }, report) {
    const place = valueAt('spec', 'domain')
    const firstOf = new Map<string, Entry<'Service'>>()
    for (const entry of tree.services) {
      const key = entry.file.domainKey
      if (key === undefined) continue
      const first = firstOf.get(key)
      if (first === undefined) firstOf.set(key, entry)
      else
        report('domain-duplicate', placeIn(entry, place), {
          args: [key],
          other: placeIn(first, place),
        })
    }
  },
}
