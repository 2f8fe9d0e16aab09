// Checks that a channel has one delivery.
import { valueAt } from '#diagnostics/diagnostic.ts'
import { placeIn } from '#compiler/tree/tree.ts'
import type { Entry } from '#compiler/tree/tree.ts'
import type { TreeRule } from './tree-rule.ts'

export const deliveriesUnique: TreeRule = {
  name: 'deliveries-unique',
  check({ tree }, report) {
    const ofChannel = new Map<string, Entry<'Delivery'>>()
    for (const entry of tree.of.Delivery) {
      const { channel } = entry.object.spec
      const first = ofChannel.get(channel)
      if (first === undefined) ofChannel.set(channel, entry)
      else {
        const other = placeIn(first, valueAt('kind'))
        report('delivery-duplicate', placeIn(entry, valueAt('kind')), { args: [channel], other })
      }
    }
  },
}
