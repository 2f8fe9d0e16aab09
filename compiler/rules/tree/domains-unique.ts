// Checks that a name has one service across tenants, whatever its case and trailing dot.
import { copyAndOriginal } from '#compiler/tree/copies.ts'
import { valueAt } from '#diagnostics/diagnostic.ts'
import type { TreeRule } from './tree-rule.ts'
import { placeIn } from '#compiler/tree/tree.ts'

export const domainsUnique: TreeRule = {
  name: 'domains-unique',
  check({ tree }, report) {
    const place = valueAt('spec', 'domain')
    if (tree.serviceAt.size === tree.of.Service.length) return
    for (const entry of tree.of.Service) {
      const key = entry.file.domainKey
      const first = key === undefined ? undefined : tree.serviceAt.get(key)
      if (key === undefined || first === undefined || first === entry) continue
      const [copy, original] = copyAndOriginal(first, entry)
      const detail = { args: [key], other: placeIn(original, place) }
      report('domain-duplicate', placeIn(copy, place), detail)
    }
  },
}
