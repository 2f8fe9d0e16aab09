// Points out aliases that lead to names of our zones which do not exist.
import { formatName, foldName } from '#dns/name.ts'
import { isNowhere } from '#compiler/lower/record-lookup.ts'
import { placeOfRrset, undoubled } from '#compiler/lower/record-plan.ts'
import type { TreeRule } from './tree-rule.ts'

export const aliasTargets: TreeRule = {
  name: 'alias-targets',
  check({ tree, records: plan }, report) {
    if (plan === undefined) return
    for (const rrset of plan.aliases) {
      const { name, rdata } = rrset.model
      const [first] = rdata
      if (first === undefined || name.startsWith('_')) continue
      const target = formatName(foldName(first))
      // Names below `_acme-challenge` and the like come and go by UPDATE, and are not in files.
      if (target.startsWith('_')) continue
      if (!isNowhere(tree, plan, target)) continue
      const at = placeOfRrset(rrset, 'values', rrset.from[0]!)
      const suggestion = undoubled(plan, target)
      report('alias-target-missing', at, { args: [name, target], suggestion })
    }
  },
}
