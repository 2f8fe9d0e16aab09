// Lays records that came by zone transfer under what is declared here: they give way to services,
// to other records, to name servers of the settings, and to what is not of their zone any more.
import { isAliasService } from '#compiler/tree/alias-service.ts'
import { placeIn, valueIn } from '#compiler/tree/tree.ts'
import type { Entry, EntryPlace, PlannedRrset, Tree } from '#compiler/tree/tree.ts'
import { aliasCode, readRecords, recordPlace } from '#compiler/values/record-sets.ts'
import { enclosingNames } from '#dns/enclosing-names.ts'
import { foldName, formatName } from '#dns/name.ts'
import { RrType } from '#dns/rrtype.ts'

/** A record set that is not answered, and what is answered in its place. */
export interface YieldingRrset {
  readonly rrset: PlannedRrset
  readonly to: EntryPlace
}

interface InboundZone {
  /** Its serial is known, and it has not expired. */
  readonly isHere: boolean
  readonly isExpired: boolean
}

interface Declared {
  readonly at: {
    readonly get: (name: string) => readonly PlannedRrset[] | undefined
    readonly rrsets: readonly PlannedRrset[]
  }
  readonly hosts: ReadonlyMap<string, EntryPlace>
  readonly tree: Tree
  /** Positions of the declared zones by name. */
  readonly zoneAt: ReadonlyMap<string, number>
}

export const isTransferred = ({ object }: Entry<'Records'>): boolean =>
  object.spec.transfer !== undefined

/** By name of the zone: one file of several says how the zone stands. */
export function inboundZones(entries: readonly Entry<'Records'>[]): Map<string, InboundZone> {
  const zones = new Map<string, InboundZone>()
  for (const entry of entries) {
    const { transfer } = entry.object.spec
    const { zone } = transfer === undefined ? {} : readRecords(entry.object.spec)
    if (transfer === undefined || zone === undefined) continue
    const isExpired = transfer.expired === true || zones.get(zone)?.isExpired === true
    const isKnown = transfer.soa !== undefined || zones.get(zone)?.isHere === true
    zones.set(zone, { isHere: isKnown && !isExpired, isExpired })
  }
  return zones
}

/** @returns the record sets that are answered, and those that give way */
export function layUnder(
  transferred: readonly PlannedRrset[],
  declared: Declared,
): { readonly laid: readonly PlannedRrset[]; readonly yielding: readonly YieldingRrset[] } {
  const laid: PlannedRrset[] = []
  const yielding: YieldingRrset[] = []
  if (transferred.length === 0) return { laid, yielding }
  const bounds = boundsOf(declared)
  for (const rrset of transferred) {
    const to = declaredOver(rrset, declared) ?? boundOver(rrset, declared, bounds)
    if (to === undefined) laid.push(rrset)
    else yielding.push({ rrset, to })
  }
  return { laid, yielding }
}

/** Types that a service answers itself, or that would replace its answer. */
const serviceTypes: readonly number[] = [RrType.A, RrType.AAAA, RrType.CNAME, aliasCode]

function declaredOver(
  { model: { name, type } }: PlannedRrset,
  { at, hosts, tree }: Declared,
): EntryPlace | undefined {
  const isOfService = serviceTypes.includes(type)
  const service = tree.serviceAt.get(name)
  if (service !== undefined && (isOfService || isAliasService(tree, service))) {
    return valueIn(service, 'spec', 'domain')
  }
  const host = isOfService ? hosts.get(name) : undefined
  if (host !== undefined) return host
  const own = at.get(name)?.find(({ model }) => excludes(model.type, type))
  if (own === undefined) return undefined
  return placeOf(own)
}

const placeOf = ({ entry, index }: PlannedRrset): EntryPlace =>
  placeIn(entry, recordPlace(index, 'name'))

/** Where the part of a zone ends that is answered from it, as far as that is declared here. */
interface Bounds {
  readonly cuts: ReadonlyMap<string, PlannedRrset>
  /** Name servers of the cuts, whose addresses may stand below. */
  readonly servers: ReadonlySet<string>
  readonly dnames: ReadonlyMap<string, PlannedRrset>
  readonly hasInner: boolean
}

function boundsOf({ at, zoneAt }: Declared): Bounds {
  const [cuts, dnames] = [new Map<string, PlannedRrset>(), new Map<string, PlannedRrset>()]
  const servers = new Set<string>()
  for (const rrset of at.rrsets) {
    const { name, type, rdata } = rrset.model
    if (type === RrType.DNAME) dnames.set(name, rrset)
    if (type !== RrType.NS || zoneAt.has(name)) continue
    cuts.set(name, rrset)
    for (const server of rdata) servers.add(formatName(foldName(server)))
  }
  const isOuter = (name: string): boolean => zoneAt.has(name)
  const hasInner =
    zoneAt.has('.') || zoneAt.keys().some((name) => enclosingNames(name).some(isOuter))
  return { cuts, servers, dnames, hasInner }
}

/** The inner zone, cut or DNAME declared here that ends the zone above a transferred name. */
function boundOver(
  { model: { name, type, zone } }: PlannedRrset,
  { zoneAt, tree: { settings } }: Declared,
  { cuts, servers, dnames, hasInner }: Bounds,
): EntryPlace | undefined {
  if (!hasInner && cuts.size + dnames.size === 0) return undefined
  const isGlue = (type === RrType.A || type === RrType.AAAA) && servers.has(name)
  const isOfCut = type === RrType.NS || type === RrType.DS
  for (const at of [name, ...enclosingNames(name)]) {
    const inner = zoneAt.get(at)
    if (inner === zone) return undefined
    if (inner !== undefined) {
      // RFC 4034 section 5: DS of an inner zone is in the outer one.
      if ((at === name && type === RrType.DS) || settings === undefined) return undefined
      return valueIn(settings, 'spec', 'zones', inner, 'name')
    }
    const cut = isGlue || (at === name && isOfCut) ? undefined : cuts.get(at)
    const bound = cut ?? (at === name ? undefined : dnames.get(at))
    if (bound !== undefined) return placeOf(bound)
  }
  return undefined
}

/** Whether a name with records of one type has none of another one. */
function excludes(own: number, other: number): boolean {
  if (own === other || own === RrType.CNAME || other === RrType.CNAME) return true
  const isAddress = (type: number): boolean => type === RrType.A || type === RrType.AAAA
  return (own === aliasCode && isAddress(other)) || (other === aliasCode && isAddress(own))
}
