// What nothing acts on yet is refused, rather than accepted and ignored.
import { valueAt } from '#compiler/diagnostics/diagnostic.ts'
import type { TreeRule } from './tree-rule.ts'
import { placeIn } from '#compiler/tree/tree.ts'
import type { Entry } from '#compiler/tree/tree.ts'

export const unservedKindsRefused: TreeRule = {
  name: 'unserved-kinds',
  check({ tree, unserved }, report) {
    const entries: readonly Entry[] = [...tree.redirects, ...tree.delegatedDomains]
    for (const entry of entries) {
      const { kind } = entry.object
      if (!unserved.includes(kind)) continue
      report('not-available-yet', placeIn(entry, valueAt('kind')), { args: [`the kind ${kind}`] })
    }
  },
}
