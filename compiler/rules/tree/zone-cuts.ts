// Checks what stands at and below zone cuts and DNAMEs: glue, DS, and nothing else.
import { RrType } from '#dns/rrtype.ts'
import { formatName, foldName } from '#dns/name.ts'
import { above, placeOfRrset } from '#compiler/lower/record-plan.ts'
import type { RecordPlan } from '#compiler/lower/record-plan.ts'
import type { PlannedRrset, TreeReport } from '#compiler/tree/tree.ts'
import { enclosingNames, isInside } from '#dns/enclosing-names.ts'
import { recordRule } from './record-rule.ts'

export const zoneCuts = recordRule('zone-cuts', ({ plan }, report) => {
  const glueNames = new Set<string>()
  if (plan.dnames.size > 0) checkZonesBelow(plan, report)
  for (const cut of plan.cuts.values()) checkServers(plan, cut, glueNames, report)
  for (const rrset of plan.rrsets) {
    if (rrset.model.type === RrType.DS) checkSigner(plan, rrset, report)
    if (plan.cuts.size > 0) checkCut(plan, rrset, glueNames, report)
    const dname = above(plan, plan.dnames, rrset.model.name)
    if (dname !== undefined) reportBelow('record-below-dname', rrset, dname, report)
  }
})

/** Without the address of a server below the cut nobody finds it. RFC 1034 section 4.2.2. */
function checkServers(
  plan: RecordPlan,
  cut: PlannedRrset,
  glueNames: Set<string>,
  report: TreeReport,
): void {
  for (const [i, rdata] of cut.model.rdata.entries()) {
    const server = formatName(foldName(rdata))
    glueNames.add(server)
    if (!isInside(server, cut.model.name) || hasAddress(plan, server) || !plan.isWhole) continue
    const args = [server, cut.model.name]
    report('cut-glue-missing', placeOfRrset(cut, 'values', cut.from[i]!), { args })
  }
}

function hasAddress({ at, hosts }: RecordPlan, name: string): boolean {
  return hosts.has(name) || at.get(name)?.some(isAddress) === true
}

function isAddress({ model: { type } }: PlannedRrset): boolean {
  return type === RrType.A || type === RrType.AAAA
}

function checkCut(
  plan: RecordPlan,
  rrset: PlannedRrset,
  glueNames: ReadonlySet<string>,
  report: TreeReport,
): void {
  const { name, type } = rrset.model
  const higher = above(plan, plan.cuts, name)
  const isGlue = isAddress(rrset) && glueNames.has(name)
  if (higher !== undefined) {
    if (!isGlue) reportBelow('record-below-cut', rrset, higher, report)
    return
  }
  const cut = plan.cuts.get(name)
  if (cut === undefined || type === RrType.NS || type === RrType.DS || isGlue) return
  const args = [name, rrset.typeName]
  const other = placeOfRrset(cut, 'type')
  report('record-at-cut', placeOfRrset(rrset, 'type'), { args, other })
}

function reportBelow(
  code: 'record-below-cut' | 'record-below-dname',
  rrset: PlannedRrset,
  by: PlannedRrset,
  report: TreeReport,
): void {
  const args = [rrset.model.name, by.model.name]
  report(code, placeOfRrset(rrset, 'name'), { args, other: placeOfRrset(by, 'type') })
}

/** No resolver reaches a zone below a DNAME. RFC 6672 section 2.3. */
function checkZonesBelow(plan: RecordPlan, report: TreeReport): void {
  for (const zone of plan.zoneAt.keys()) {
    for (const outer of enclosingNames(zone)) {
      const dname = plan.dnames.get(outer)
      if (dname === undefined) continue
      report('record-below-dname', placeOfRrset(dname, 'type'), { args: [zone, outer] })
    }
  }
}

/** RFC 4034 section 5: at the parent's side of a cut, be it to a zone of ours. */
function checkSigner(plan: RecordPlan, rrset: PlannedRrset, report: TreeReport): void {
  const { name, zone } = rrset.model
  const apex = plan.zoneAt.get(name)
  if (apex === undefined ? plan.cuts.has(name) : apex !== zone) return
  report('ds-without-cut', placeOfRrset(rrset, 'type'), { args: [name] })
}
