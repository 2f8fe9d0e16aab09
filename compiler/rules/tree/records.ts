// Checks the places of records: their zone, their neighbours, and the cut above them.
import { bundleLimits } from '#bundle/format/limits.ts'
import { isTransferred } from '#compiler/lower/inbound-records.ts'
import { domainOfName, hasWholeZone } from '#compiler/lower/record-access.ts'
import {
  above,
  isApexAlias,
  isNameInbound,
  placeOfRrset,
  zoneOfName,
} from '#compiler/lower/record-plan.ts'
import type { RecordPlan } from '#compiler/lower/record-plan.ts'
import { isAliasService } from '#compiler/tree/alias-service.ts'
import { placeIn, valueIn } from '#compiler/tree/tree.ts'
import type { Entry, EntryPlace, PlannedRrset, Tree, TreeReport } from '#compiler/tree/tree.ts'
import { aliasCode, readRecords, recordPlace } from '#compiler/values/record-sets.ts'
import { enclosingNames, isInside } from '#dns/enclosing-names.ts'
import { foldName, formatName } from '#dns/name.ts'
import { RrType } from '#dns/rrtype.ts'
import { earlier } from '#lib/sequence/earlier.ts'
import { suggest } from '#lib/suggest.ts'
import type { TreeRule } from './tree-rule.ts'

/**
 * Checks that the zone of records is declared, open to their tenant, and the closest to each name.
 */
export const recordZones: TreeRule = recordRule(({ tree, plan }, report) => {
  for (const entry of tree.of.Records) {
    const { zone } = readRecords(entry.object.spec)
    if (zone === undefined) continue
    const at = valueIn(entry, 'spec', 'zone')
    const position = plan.zoneAt.get(zone)
    if (position === undefined) {
      const suggestion = suggest(zone, zonesFor(entry.tenant, plan))
      report('record-zone-unknown', at, { args: [zone], suggestion })
    } else if (!hasWholeZone(entry.tenant, plan.zones[position]!)) {
      if (plan.zones[position]!.isByDomain) checkDomains(entry, plan, position, report)
      else report('record-zone-not-given', at, { args: [zone, entry.tenant, entry.tenant] })
    }
  }
  checkClosest(plan, report)
})

/** Zones in which a tenant may write: it is not told of others. */
function zonesFor(tenant: string, { zones, domains }: RecordPlan): readonly string[] {
  const own = [...domains].flatMap(([name, domain]) => (domain.tenant === tenant ? [name] : []))
  return zones.flatMap((zone) => {
    const isOpen =
      hasWholeZone(tenant, zone) ||
      (zone.isByDomain && own.some((name) => isInside(name, zone.name)))
    return isOpen ? [zone.name] : []
  })
}

/** Each name must be in a delegated domain of the tenant. */
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

/**
 * NS and DS records of a zone of ours are not in its own file: the settings and its parent have
 * them.
 */
function checkClosest(plan: RecordPlan, report: TreeReport): void {
  const outer = new Set<number>()
  for (const zone of plan.zoneAt.keys()) {
    for (const name of enclosingNames(zone)) outer.add(plan.zoneAt.get(name) ?? -1)
  }
  if (plan.zoneAt.has('.')) outer.add(plan.zoneAt.get('.')!)
  for (const rrset of plan.rrsets) {
    const { name, zone, type } = rrset.model
    if (!outer.has(zone)) continue
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

/** Checks that a name and type has one record set, and that a CNAME is alone. */
export const recordsUnique = recordRule(({ plan }, report) => {
  for (const [, rrsets] of plan.at) {
    if (rrsets.length > 1) checkName(plan, rrsets, report)
  }
})

const typesMax = bundleLimits.rrsetsPerNodeMax

function checkName(plan: RecordPlan, rrsets: readonly PlannedRrset[], report: TreeReport): void {
  const firstOf = new Map<number, PlannedRrset>()
  for (const rrset of rrsets) {
    const { name, type } = rrset.model
    const first = earlier(firstOf, type, rrset)
    if (first === undefined) continue
    const detail = { args: [name, rrset.typeName], other: placeOfRrset(first, 'name') }
    report('rrset-duplicate', placeOfRrset(rrset, 'name'), detail)
  }
  if (firstOf.size > typesMax) {
    const args = [String(firstOf.size), 'types of one name', String(typesMax)]
    report('record-too-many', placeOfRrset(rrsets.at(-1)!, 'type'), { args })
  }
  checkAddresses(firstOf, report)
  const alias = firstOf.get(RrType.CNAME)
  if (alias === undefined || isApexAlias(plan, alias)) return
  // RFC 1034 section 3.6.2: sets declared before the CNAME are wrong, too.
  for (const rrset of firstOf.values()) {
    if (rrset === alias) continue
    const other = placeOfRrset(alias, 'type')
    const args = [rrset.model.name, rrset.typeName]
    report('record-beside-cname', placeOfRrset(rrset, 'type'), { args, other })
  }
}

/** Checks that the addresses of a name have one source. */
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

/** Types that a service answers itself, or that would replace its answer. */
const takenTypes: readonly number[] = [RrType.A, RrType.AAAA, RrType.CNAME, aliasCode]

/**
 * Checks that no name with a service, or of a name server in the settings, has addresses or a
 * CNAME, and that a service that is an alias is alone.
 */
export const recordsAndServices: TreeRule = ({ tree, records: plan }, report) => {
  if (plan === undefined || plan.rrsets.length === 0) return
  for (const [name, other] of plan.hosts) {
    checkTaken(plan, name, { code: 'record-is-nameserver', other }, report)
  }
  for (const entry of tree.of.Service) {
    const { domainKey } = entry.file
    if (domainKey === undefined) continue
    const other = valueIn(entry, 'spec', 'domain')
    const code = isAliasService(tree, entry) ? 'record-beside-cname' : 'record-beside-service'
    checkTaken(plan, domainKey, { code, other }, report)
    checkAbove(plan, entry, domainKey, report)
  }
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

type BelowCode = 'record-below-cut' | 'record-below-dname'

function checkAbove(
  plan: RecordPlan,
  entry: Entry<'Service'>,
  name: string,
  report: TreeReport,
): void {
  const say = (code: BelowCode | 'service-at-cut', by: PlannedRrset): void => {
    const other = placeOfRrset(by, 'type')
    const args = code === 'service-at-cut' ? [name] : [name, by.model.name]
    report(code, valueIn(entry, 'spec', 'domain'), { args, other })
  }
  const higher = above(plan, plan.cuts, name)
  if (higher !== undefined) return say('record-below-cut', higher)
  const cut = plan.cuts.get(name)
  if (cut !== undefined) return say('service-at-cut', cut)
  const dname = above(plan, plan.dnames, name)
  if (dname !== undefined) say('record-below-dname', dname)
}

/** Checks the records at and below zone cuts and DNAMEs: only glue and DS. */
export const zoneCuts = recordRule(({ plan }, report) => {
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

/** A server below the cut needs glue. RFC 1034 section 4.2.2. */
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
    if (isTransferred(cut.entry)) continue
    const at = placeOfRrset(cut, 'values', cut.from[i]!)
    if (isNameInbound(plan, server)) {
      const args = [cut.typeName, cut.model.name, server, 'has no addresses']
      report('inbound-need-missing', at, { args })
    } else report('cut-glue-missing', at, { args: [server, cut.model.name] })
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
  code: BelowCode,
  rrset: PlannedRrset,
  by: PlannedRrset,
  report: TreeReport,
): void {
  const args = [rrset.model.name, by.model.name]
  report(code, placeOfRrset(rrset, 'name'), { args, other: placeOfRrset(by, 'type') })
}

/** RFC 6672 section 2.3: no resolver reaches a zone below a DNAME. */
function checkZonesBelow(plan: RecordPlan, report: TreeReport): void {
  for (const zone of plan.zoneAt.keys()) {
    for (const outer of enclosingNames(zone)) {
      const dname = plan.dnames.get(outer)
      if (dname === undefined) continue
      report('record-below-dname', placeOfRrset(dname, 'type'), { args: [zone, outer] })
    }
  }
}

/** RFC 4034 section 5: DS belongs to the parent side of a cut, also to a zone of ours. */
function checkSigner(plan: RecordPlan, rrset: PlannedRrset, report: TreeReport): void {
  const { name, zone } = rrset.model
  const apex = plan.zoneAt.get(name)
  if (apex === undefined ? plan.cuts.has(name) : apex !== zone) return
  const at = placeOfRrset(rrset, 'type')
  if (apex === undefined && isNameInbound(plan, name)) {
    const args = [rrset.typeName, name, 'NS records of that name', 'are not here']
    report('inbound-need-missing', at, { args })
  } else report('ds-without-cut', at, { args: [name] })
}

interface RecordSubject {
  /** Only its records and settings may be read. */
  readonly tree: Tree
  readonly plan: RecordPlan
}

/** Runs a rule once per plan: most commits change no record, and there may be many. */
function recordRule(look: (subject: RecordSubject, report: TreeReport) => void): TreeRule {
  const found = new WeakMap<RecordPlan, Parameters<TreeReport>[]>()
  return ({ tree, records: plan }, report) => {
    if (plan === undefined) return
    let list = found.get(plan)
    if (list === undefined) {
      const kept: Parameters<TreeReport>[] = []
      look({ tree, plan }, (...finding) => kept.push(finding))
      found.set(plan, kept)
      list = kept
    }
    for (const finding of list) report(...finding)
  }
}
