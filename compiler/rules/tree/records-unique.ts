// Checks that a name and type has one set of records, and nothing stands beside a CNAME.
import { bundleLimits } from '#bundle/format/limits.ts'
import { RrType } from '#dns/rrtype.ts'
import { isApexAlias, placeOfRrset } from '#compiler/lower/record-plan.ts'
import type { RecordPlan } from '#compiler/lower/record-plan.ts'
import type { PlannedRrset, TreeReport } from '#compiler/tree/tree.ts'
import { aliasCode } from '#compiler/values/record-sets.ts'
import { recordRule } from './record-rule.ts'

export const recordsUnique = recordRule('records-unique', ({ plan }, report) => {
  for (const rrsets of plan.at.values()) {
    if (rrsets.length > 1) checkName(plan, rrsets, report)
  }
})

const typesMax = bundleLimits.rrsetsPerNodeMax

function checkName(plan: RecordPlan, rrsets: readonly PlannedRrset[], report: TreeReport): void {
  const firstOf = new Map<number, PlannedRrset>()
  for (const rrset of rrsets) {
    const { name, type } = rrset.model
    const first = firstOf.get(type)
    if (first === undefined) firstOf.set(type, rrset)
    else {
      const other = placeOfRrset(first, 'name')
      const args = [name, rrset.typeName]
      report('rrset-duplicate', placeOfRrset(rrset, 'name'), { args, other })
    }
  }
  if (firstOf.size > typesMax) {
    const args = [String(firstOf.size), 'types of one name', String(typesMax)]
    report('record-too-many', placeOfRrset(rrsets.at(-1)!, 'type'), { args })
  }
  checkAddresses(firstOf, report)
  const alias = firstOf.get(RrType.CNAME)
  if (alias === undefined || isApexAlias(plan, alias)) return
  // RFC 1034 section 3.6.2: also what came first is in the wrong place.
  for (const rrset of firstOf.values()) {
    if (rrset === alias) continue
    const other = placeOfRrset(alias, 'type')
    const args = [rrset.model.name, rrset.typeName]
    report('record-beside-cname', placeOfRrset(rrset, 'type'), { args, other })
  }
}

/** Addresses of a name come from one place. */
function checkAddresses(firstOf: ReadonlyMap<number, PlannedRrset>, report: TreeReport): void {
  const alias = firstOf.get(aliasCode)
  if (alias === undefined) return
  const other = placeOfRrset(alias, 'type')
  for (const rrset of [firstOf.get(RrType.A), firstOf.get(RrType.AAAA)]) {
    if (rrset === undefined) continue
    const args = [rrset.model.name, rrset.typeName]
    report('record-beside-alias', placeOfRrset(rrset, 'type'), { args, other })
  }
}
