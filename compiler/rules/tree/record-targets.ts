// Checks that the targets of MX, NS and SRV records are no aliases and, if they are ours, exist.
import { formatName, foldName } from '#dns/name.ts'
import { RrType } from '#dns/rrtype.ts'
import { placeOfRrset } from '#compiler/plan/record-plan.ts'
import { addressesOf } from '#compiler/plan/record-lookup.ts'
import type { TreeRule } from './tree-rule.ts'

/** Octets before the name of the target, by type. RFC 1035 section 3.3, RFC 2782. */
const targetAt: Readonly<Record<number, number>> = Object.freeze({
  [RrType.NS]: 0,
  [RrType.MX]: 2,
  [RrType.SRV]: 6,
})

export const recordTargets: TreeRule = {
  name: 'record-targets',
  check({ tree, records: plan }, report) {
    if (plan === undefined) return
    for (const rrset of plan.pointers) {
      const offset = targetAt[rrset.model.type] ?? 0
      for (const [i, rdata] of rrset.model.rdata.entries()) {
        const target = formatName(foldName(rdata.subarray(offset)))
        // RFC 7505 and RFC 2782: the root says that there is no such server.
        if (target === '.') continue
        const addresses = addressesOf(tree, plan, target)
        const at = placeOfRrset(rrset, 'values', rrset.from[i]!)
        const args = [target, rrset.typeName]
        if ('alias' in addresses) {
          const other = placeOfRrset(addresses.alias, 'type')
          report('record-target-alias', at, { args, other })
        } else if (addresses.found === 'none') report('record-target-missing', at, { args })
      }
    }
  },
}
