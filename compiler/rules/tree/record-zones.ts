// Checks that the zone of records is declared, open to their tenant, and the closest of its names.
import { suggest } from '#lib/suggest.ts'
import { RrType } from '#dns/rrtype.ts'
import { valueAt } from '#diagnostics/diagnostic.ts'
import { domainOfName, hasWholeZone } from '#compiler/lower/record-access.ts'
import { placeOfRrset, zoneOfName } from '#compiler/lower/record-plan.ts'
import type { RecordPlan } from '#compiler/lower/record-plan.ts'
import { readRecords, recordPlace } from '#compiler/values/record-sets.ts'
import { placeIn } from '#compiler/tree/tree.ts'
import type { Entry, TreeReport } from '#compiler/tree/tree.ts'
import { recordRule } from './record-rule.ts'
import type { TreeRule } from './tree-rule.ts'

export const recordZones: TreeRule = recordRule('record-zones', ({ tree, plan }, report) => {
  for (const entry of tree.of.Records) {
    const { zone } = readRecords(entry.object.spec)
    if (zone === undefined) continue
    const at = placeIn(entry, valueAt('spec', 'zone'))
    const position = plan.zoneAt.get(zone)
    if (position === undefined) {
      const suggestion = suggest(zone, [...plan.zoneAt.keys()])
      report('record-zone-unknown', at, { args: [zone], suggestion })
    } else if (!hasWholeZone(entry.tenant, plan.zones[position]!)) {
      if (plan.zones[position]!.isByDomain) checkDomains(entry, plan, position, report)
      else report('record-zone-not-given', at, { args: [zone, entry.tenant, entry.tenant] })
    }
  }
  checkClosest(plan, report)
})

/** Each of its names is to be in a delegated domain of the tenant. */
function checkDomains(
  entry: Entry<'Records'>,
  { zones, domains }: RecordPlan,
  position: number,
  report: TreeReport,
): void {
  const { tenant } = entry
  for (const { index, name } of readRecords(entry.object.spec).rrsets) {
    if (domainOfName(name, zones[position]!, domains)?.tenant === tenant) continue
    const at = placeIn(entry, recordPlace(index, 'name'))
    report('record-domain-not-own', at, { args: [name, tenant, tenant] })
  }
}

/** The NS and DS records of a zone of ours are not of its own file: the settings, its parent. */
function checkClosest(plan: RecordPlan, report: TreeReport): void {
  for (const rrset of plan.rrsets) {
    const { name, zone, type } = rrset.model
    const closest = zoneOfName(plan, name)
    if (closest === undefined || closest === zone) continue
    const inner = plan.zones[closest]!.name
    if (name === inner && type === RrType.DS) continue
    if (name === inner && type === RrType.NS) {
      const args = ['NS', name, 'nameservers']
      report('record-of-settings', placeOfRrset(rrset, 'type'), { args })
    } else {
      report('record-in-inner-zone', placeOfRrset(rrset, 'name'), { args: [name, inner, inner] })
    }
  }
}
