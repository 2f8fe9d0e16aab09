// Checks that no service and no name server of the settings has a name with addresses or a CNAME,
// and that nothing stands beside a service that is an alias.
import { RrType } from '#dns/rrtype.ts'
import { above, isApexAlias, placeOfRrset } from '#compiler/lower/record-plan.ts'
import type { RecordPlan } from '#compiler/lower/record-plan.ts'
import type { Entry, EntryPlace, PlannedRrset, TreeReport } from '#compiler/tree/tree.ts'
import { valueAt } from '#diagnostics/diagnostic.ts'
import { placeIn } from '#compiler/tree/tree.ts'
import { isAliasService } from '#compiler/lower/record-lookup.ts'
import { aliasCode } from '#compiler/values/record-sets.ts'
import type { TreeRule } from './tree-rule.ts'

/** What a service answers itself, and what would answer in place of it. */
const takenTypes: readonly number[] = [RrType.A, RrType.AAAA, RrType.CNAME, aliasCode]

export const recordsAndServices: TreeRule = {
  name: 'records-and-services',
  check({ tree, records: plan }, report) {
    if (plan === undefined || plan.rrsets.length === 0) return
    for (const [name, other] of plan.hosts) {
      checkTaken(plan, name, { code: 'record-is-nameserver', other }, report)
    }
    for (const entry of tree.of.Service) {
      const { domainKey } = entry.file
      if (domainKey === undefined) continue
      const other = placeIn(entry, valueAt('spec', 'domain'))
      const code = isAliasService(tree, entry) ? 'record-beside-cname' : 'record-beside-service'
      checkTaken(plan, domainKey, { code, other }, report)
      checkAbove(plan, entry, domainKey, report)
    }
  },
}

interface Clash {
  readonly code: 'record-is-nameserver' | 'record-beside-service' | 'record-beside-cname'
  readonly other: EntryPlace
}

function checkTaken(
  plan: RecordPlan,
  name: string,
  { code, other }: Clash,
  report: TreeReport,
): void {
  for (const rrset of plan.at.get(name) ?? []) {
    if (isApexAlias(plan, rrset)) continue
    if (code !== 'record-beside-cname' && !takenTypes.includes(rrset.model.type)) continue
    report(code, placeOfRrset(rrset, 'type'), { args: [name, rrset.typeName], other })
  }
}

function checkAbove(
  plan: RecordPlan,
  entry: Entry<'Service'>,
  name: string,
  report: TreeReport,
): void {
  const say = (code: 'record-below-cut' | 'record-below-dname', by: PlannedRrset): void => {
    const other = placeOfRrset(by, 'type')
    const args = [name, by.model.name]
    report(code, placeIn(entry, valueAt('spec', 'domain')), { args, other })
  }
  const cut = above(plan, plan.cuts, name) ?? plan.cuts.get(name)
  if (cut !== undefined) return say('record-below-cut', cut)
  const dname = above(plan, plan.dnames, name)
  if (dname !== undefined) say('record-below-dname', dname)
}
