// Checks that the targets of MX, NS and SRV records are no aliases and, if they are ours, exist.
import { placeOfRrset, undoubled } from '#compiler/lower/record-plan.ts'
import { addressesOf } from '#compiler/lower/record-lookup.ts'
import { hostIn, isAddressName } from '#compiler/values/record-sets.ts'
import type { TreeRule } from './tree-rule.ts'

export const recordTargets: TreeRule = {
  name: 'record-targets',
  check({ tree, records: plan }, report) {
    if (plan === undefined) return
    for (const rrset of plan.pointers) {
      for (const [i, rdata] of rrset.model.rdata.entries()) {
        const target = hostIn(rrset.model.type, rdata)
        // RFC 7505 and RFC 2782: the root says that there is no such server.
        if (target === '.') continue
        const addresses = addressesOf(tree, plan, target)
        const at = placeOfRrset(rrset, 'values', rrset.from[i]!)
        const args = [target, rrset.typeName]
        if ('alias' in addresses) {
          report('record-target-alias', at, { args, other: addresses.alias })
        } else if (
          addresses.found === 'none' &&
          !isAddressName(target, plan.zones[rrset.model.zone]!.name)
        ) {
          const suggestion = undoubled(plan, target)
          report('record-target-missing', at, { args, suggestion })
        }
      }
    }
  },
}
