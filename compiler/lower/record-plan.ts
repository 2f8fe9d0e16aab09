// Indexes the static records of a tree by name, with its zone cuts and aliases.
import type { RrsetModel } from '#bundle/format/model.ts'
import type { ReadRrset } from '#compiler/values/read-rrset.ts'
import { RrType } from '#dns/rrtype.ts'
import { Chains } from '#lib/sequence/chains.ts'
import { aliasCode } from '#compiler/values/record-sets.ts'
import { enclosingNames, isInside } from '#dns/enclosing-names.ts'
import { readRecords, recordPlace } from '#compiler/values/record-sets.ts'
import { placeIn } from '#compiler/tree/tree.ts'
import type { Entry, EntryPlace, PlannedRrset, Tree } from '#compiler/tree/tree.ts'
import { inboundZones, isTransferred, layUnder } from './inbound-records.ts'
import type { YieldingRrset } from './inbound-records.ts'
import { domainOwners, hasWholeZone, mayWriteRecord } from './record-access.ts'
import type { DomainOwners } from './record-access.ts'
import { enclosingZone } from './zone-plan.ts'
import type { PlannedZone, ZonePlan } from './zone-plan.ts'

/**
 * Depends only on the files of records, the declared zones, delegated domains where a zone gives
 * them rights, and on services where records came by transfer.
 */
export interface RecordPlan {
  /** Sets that their tenant may write, in the order of the files. */
  readonly rrsets: readonly PlannedRrset[]
  readonly at: RrsetsByName
  /** NS records below an apex, where others answer. The first of each name. */
  readonly cuts: ReadonlyMap<string, PlannedRrset>
  readonly dnames: ReadonlyMap<string, PlannedRrset>
  /** All CNAME and DNAME records. */
  readonly aliases: readonly PlannedRrset[]
  /** All ALIAS records. */
  readonly addressAliases: readonly PlannedRrset[]
  /** MX, NS and SRV records, whose targets should have addresses. */
  readonly pointers: readonly PlannedRrset[]
  /** HTTPS and SVCB records, whose targets may be aliases. */
  readonly bindings: readonly PlannedRrset[]
  readonly zones: readonly PlannedZone[]
  readonly zoneAt: ReadonlyMap<string, number>
  /** Empty where no zone uses them. */
  readonly domains: DomainOwners
  /** Names of name servers with addresses in the settings, and their places there. */
  readonly hosts: ReadonlyMap<string, EntryPlace>
  /** What came by transfer, and gives way. */
  readonly yielding: readonly YieldingRrset[]
  /** Zones from elsewhere whose records are not here. */
  readonly absent: readonly string[]
  /** False: some files or records could not be read, so an unlisted name may still exist. */
  readonly isWhole: boolean
}

/** The record sets of each name, in the order of the files. */
export class RrsetsByName {
  readonly #listOf = new Map<string, number>()
  readonly #lists = new Chains<PlannedRrset>()

  get rrsets(): readonly PlannedRrset[] {
    return this.#lists.items
  }

  add(rrset: PlannedRrset): void {
    const { name } = rrset.model
    this.#listOf.set(name, this.#lists.add(this.#listOf.get(name) ?? -1, rrset))
  }

  has(name: string): boolean {
    return this.#listOf.has(name)
  }

  get(name: string): readonly PlannedRrset[] | undefined {
    const list = this.#listOf.get(name)
    return list === undefined ? undefined : this.#lists.of(list)
  }

  keys(): MapIterator<string> {
    return this.#listOf.keys()
  }

  *[Symbol.iterator](): Generator<[name: string, rrsets: readonly PlannedRrset[]]> {
    for (const [name, list] of this.#listOf) yield [name, this.#lists.of(list)]
  }
}

export class RecordMemory {
  #entries: readonly Entry<'Records'>[] = []
  #domains: readonly Entry<'DelegatedDomain'>[] = []
  #services: readonly Entry[] = []
  #zoneAt: ReadonlyMap<string, number> | undefined
  #plan: RecordPlan | undefined

  planOf(tree: Tree, zones: ZonePlan): RecordPlan {
    const entries = tree.of.Records
    const domains = zones.zones.some(({ isByDomain }) => isByDomain) ? tree.of.DelegatedDomain : []
    const hasInbound = zones.zones.some(({ isInbound }) => isInbound === true)
    const isOfServices = hasInbound || entries.some(isTransferred)
    const services: readonly Entry[] = isOfServices ? [...tree.of.Service, ...tree.of.Pool] : []
    const isKnown =
      this.#zoneAt === zones.declaredAt &&
      this.#plan?.isWhole === !tree.faulty.records &&
      areSame(this.#entries, entries) &&
      areSame(this.#domains, domains) &&
      areSame(this.#services, services)
    if (isKnown) return this.#plan!
    this.#entries = entries
    this.#domains = domains
    this.#services = services
    this.#zoneAt = zones.declaredAt
    return (this.#plan = planRecords(tree, zones, domainOwners(domains)))
  }
}

function areSame(before: readonly Entry[], now: readonly Entry[]): boolean {
  return before.length === now.length && before.every((entry, i) => entry === now[i])
}

function planRecords(
  tree: Tree,
  { zones: all, declaredAt: zoneAt }: ZonePlan,
  domains: DomainOwners,
): RecordPlan {
  const zones = all.slice(0, zoneAt.size)
  const at = new RrsetsByName()
  const transferred: PlannedRrset[] = []
  let isWhole = !tree.faulty.records
  const inbound = inboundZones(tree.of.Records)
  for (const entry of tree.of.Records) {
    const read = readRecords(entry.object.spec)
    isWhole &&= read.isWhole
    const zone = read.zone === undefined ? undefined : zoneAt.get(read.zone)
    if (zone === undefined) continue
    const planned = plannedOf(entry, zone)
    const writable = hasWholeZone(entry.tenant, zones[zone]!)
      ? planned
      : planned.filter(({ model: { name } }) =>
          mayWriteRecord(entry.tenant, name, zones[zone]!, domains),
        )
    const isUnder = isTransferred(entry)
    // What is not transferred any more does not expire.
    const mayExpire = isUnder && zones[zone]!.isInbound === true
    if (mayExpire && inbound.get(read.zone!)?.isExpired === true) continue
    for (const rrset of writable) {
      if (isUnder) transferred.push(rrset)
      else at.add(rrset)
    }
  }
  const hosts = hostsOf(tree.settings, zones)
  const { laid, yielding } = layUnder(transferred, { at, hosts, tree, zoneAt })
  for (const rrset of laid) at.add(rrset)
  const aliases: PlannedRrset[] = []
  const addressAliases: PlannedRrset[] = []
  const pointers: PlannedRrset[] = []
  const bindings: PlannedRrset[] = []
  const cuts = new Map<string, PlannedRrset>()
  const dnames = new Map<string, PlannedRrset>()
  for (const rrset of at.rrsets) {
    const { name, type } = rrset.model
    if (aliasTypes.includes(type)) aliases.push(rrset)
    else if (type === aliasCode) addressAliases.push(rrset)
    else if (pointerTypes.includes(type)) pointers.push(rrset)
    else if (bindingTypes.includes(type)) bindings.push(rrset)
    const isCut = type === RrType.NS && !zoneAt.has(name)
    const special = isCut ? cuts : type === RrType.DNAME ? dnames : undefined
    if (special !== undefined && !special.has(name)) special.set(name, rrset)
  }
  const absent = zones.flatMap(({ name, isInbound }) =>
    isInbound === true && inbound.get(name)?.isHere !== true ? [name] : [],
  )
  const found = { at, cuts, dnames, aliases, addressAliases, pointers, bindings }
  return { rrsets: at.rrsets, ...found, zones, zoneAt, domains, hosts, yielding, absent, isWhole }
}

const aliasTypes: readonly number[] = [RrType.CNAME, RrType.DNAME]
const pointerTypes: readonly number[] = [RrType.MX, RrType.NS, RrType.SRV]
const bindingTypes: readonly number[] = [RrType.SVCB, RrType.HTTPS]

/** Returns the same objects as long as the file and the position of its zone stay. */
function plannedOf(entry: Entry<'Records'>, zone: number): readonly PlannedRrset[] {
  const known = entry.derived.records
  if (known?.zone === zone) return known.rrsets
  const rrsets = readRecords(entry.object.spec).rrsets.map(
    (read): PlannedRrset => new PlannedOfFile(entry, zone, read),
  )
  entry.derived.records = { zone, rrsets }
  return rrsets
}

/** One object for the plan and the model: there may be a million. */
class PlannedOfFile implements PlannedRrset, RrsetModel {
  readonly entry: Entry<'Records'>
  readonly zone: number
  readonly #read: ReadRrset

  constructor(entry: Entry<'Records'>, zone: number, read: ReadRrset) {
    this.entry = entry
    this.zone = zone
    this.#read = read
  }

  get model(): RrsetModel {
    return this
  }

  get index(): number {
    return this.#read.index
  }

  get from(): readonly number[] {
    return this.#read.from
  }

  get typeName(): string {
    return this.#read.type.name
  }

  get name(): string {
    return this.#read.name
  }

  get type(): number {
    return this.#read.type.code
  }

  get ttlSeconds(): number {
    return this.#read.ttlSeconds
  }

  get rdata(): readonly Uint8Array[] {
    return this.#read.rdata
  }
}

function hostsOf(
  settings: Entry<'Settings'> | undefined,
  zones: readonly PlannedZone[],
): ReadonlyMap<string, EntryPlace> {
  const hosts = new Map<string, EntryPlace>()
  if (settings === undefined) return hosts
  for (const { name, nameservers, nameserversAt } of zones) {
    for (const [i, server] of nameservers.entries()) {
      if (nameserversAt === undefined || server.addresses.length === 0) continue
      if (!isInside(server.name, name) || hosts.has(server.name)) continue
      const path = [...nameserversAt, i, 'name']
      hosts.set(server.name, placeIn(settings, { path, at: 'value' }))
    }
  }
  return hosts
}

/** A place in a record set. */
export function placeOfRrset(
  { entry, index }: PlannedRrset,
  ...path: readonly (string | number)[]
): EntryPlace {
  return placeIn(entry, recordPlace(index, ...path))
}

/** True for a CNAME at an apex: one error reports it, and no other mentions its neighbours. */
export function isApexAlias({ zoneAt }: RecordPlan, { model }: PlannedRrset): boolean {
  return model.type === RrType.CNAME && zoneAt.has(model.name)
}

/** The intended form of a name that has its zone twice; '': it does not. */
export function undoubled(plan: RecordPlan, name: string): string {
  const zone = plan.zones[zoneOfName(plan, name) ?? -1]?.name
  const meant = zone === undefined ? '' : name.slice(0, -zone.length)
  return zone !== undefined && isInside(meant, zone) ? meant : ''
}

/** The position of the declared zone that contains a name. */
export function zoneOfName({ zoneAt }: RecordPlan, name: string): number | undefined {
  return enclosingZone(name, zoneAt)
}

/** Whether addresses of a name may be written at run time. */
export function isNameWritable(plan: RecordPlan, name: string): boolean {
  return plan.zones[zoneOfName(plan, name) ?? -1]?.hasUpdates === true
}

/** Whether a name is in a zone from elsewhere, whose records come and go by themselves. */
export function isNameInbound(plan: RecordPlan, name: string): boolean {
  return plan.zones[zoneOfName(plan, name) ?? -1]?.isInbound === true
}

/** The highest cut or DNAME above a name in its own zone, which hides the rest. */
export function above(
  plan: RecordPlan,
  found: ReadonlyMap<string, PlannedRrset>,
  name: string,
): PlannedRrset | undefined {
  if (found.size === 0 || plan.zoneAt.has(name)) return undefined
  let highest: PlannedRrset | undefined
  for (const outer of enclosingNames(name)) {
    highest = found.get(outer) ?? highest
    if (plan.zoneAt.has(outer)) break
  }
  return highest
}
