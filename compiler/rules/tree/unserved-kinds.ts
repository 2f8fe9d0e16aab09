// Refuses objects of kinds that nothing acts on yet.
import { valueAt } from '#compiler/diagnostics/diagnostic.ts'
import type { TreeRule } from './tree-rule.ts'
import { placeIn } from '#compiler/tree/tree.ts'
import type { Entry } from '#compiler/tree/tree.ts'

export const unservedKindsRefused: TreeRule = {
  name: 'unserved-kinds',
  check({ tree, unserved }, report) {
    for (const entry of unserved.flatMap((kind): readonly Entry[] => tree.of[kind])) {
      const { kind } = entry.object
      report('not-available-yet', placeIn(entry, valueAt('kind')), { args: [`the kind ${kind}`] })
    }
  },
}
