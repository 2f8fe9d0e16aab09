// Points out targets of HTTPS and SVCB records in our zones where nobody finds addresses. RFC 9460.
import { foldName, formatName } from '#dns/name.ts'
import { addressesOf, isNowhere } from '#compiler/lower/record-lookup.ts'
import { placeOfRrset, undoubled } from '#compiler/lower/record-plan.ts'
import type { RecordPlan } from '#compiler/lower/record-plan.ts'
import type { Tree } from '#compiler/tree/tree.ts'
import type { TreeRule } from './tree-rule.ts'

/** Octets of the priority, before the target. RFC 9460 section 2.2. */
const priorityBytes = 2

export const bindingTargets: TreeRule = {
  name: 'binding-targets',
  check({ tree, records: plan }, report) {
    if (plan === undefined) return
    for (const rrset of plan.bindings) {
      const { name, rdata } = rrset.model
      for (const [i, octets] of rdata.entries()) {
        const target = formatName(foldName(octets.subarray(priorityBytes)))
        // Sections 2.5.1 and 2.5.2: the root says that there is no service, or means the owner.
        if (target === '.') continue
        const isAlias = octets[0] === 0 && octets[1] === 0
        const why = isAlias ? whyNoAlias(tree, plan, target) : whyNoEndpoint(tree, plan, target)
        if (why === undefined) continue
        const at = placeOfRrset(rrset, 'values', rrset.from[i]!)
        const suggestion = undoubled(plan, target)
        report('binding-target-missing', at, {
          args: [rrset.typeName, name, target, why],
          suggestion,
        })
      }
    }
  },
}

type Why = 'does not exist' | 'has no addresses'

/** Section 2.4.2: what stands at the target is looked for, be it records of the same type. */
function whyNoAlias(tree: Tree, plan: RecordPlan, target: string): Why | undefined {
  return isNowhere(tree, plan, target) ? 'does not exist' : undefined
}

/** Section 3: clients connect to its addresses, through aliases, too. */
function whyNoEndpoint(tree: Tree, plan: RecordPlan, target: string): Why | undefined {
  if (isNowhere(tree, plan, target)) return 'does not exist'
  const addresses = addressesOf(tree, plan, target)
  return 'found' in addresses && addresses.found === 'none' ? 'has no addresses' : undefined
}
