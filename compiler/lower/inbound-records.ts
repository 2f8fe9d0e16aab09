// Lays records that came by zone transfer under what is declared here: they give way to services,
// to other records and to name servers of the settings.
import { isAliasService } from '#compiler/tree/alias-service.ts'
import { valueIn } from '#compiler/tree/tree.ts'
import type { Entry, EntryPlace, PlannedRrset, Tree } from '#compiler/tree/tree.ts'
import { aliasCode, readRecords, recordPlace } from '#compiler/values/record-sets.ts'
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
  readonly at: { readonly get: (name: string) => readonly PlannedRrset[] | undefined }
  readonly hosts: ReadonlyMap<string, EntryPlace>
  readonly tree: Tree
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
  for (const rrset of transferred) {
    const to = declaredOver(rrset, declared)
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
  return { path: own.entry.path, file: own.entry.file, place: recordPlace(own.index, 'name') }
}

/** Whether a name with records of one type has none of another one. */
function excludes(own: number, other: number): boolean {
  if (own === other || own === RrType.CNAME || other === RrType.CNAME) return true
  const isAddress = (type: number): boolean => type === RrType.A || type === RrType.AAAA
  return (own === aliasCode && isAddress(other)) || (other === aliasCode && isAddress(own))
}
