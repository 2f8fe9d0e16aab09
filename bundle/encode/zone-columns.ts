// Encodes zones, owner names and rrsets as columns.
import { RrType } from '#dns/rrtype.ts'
import { NodeCell, NodeFlag } from '#bundle/format/cells.ts'
import type { BundleModel, ServiceModel, ZoneModel } from '#bundle/format/model.ts'
import { CsyncFlag, keyPlaceholder } from '#bundle/format/rrsets.ts'
import { NameEdit } from './name-edit.ts'
import { nameIndexOf, NameTable } from './name-table.ts'
import { isInZone, wireOf } from './record-pool.ts'
import { rrsetColumns, soaRrset } from './rrset-columns.ts'
import { addressOctets } from './rows.ts'

type ZoneTables = ReturnType<typeof layOut>

interface LastNames {
  readonly model: BundleModel
  readonly services: readonly ServiceModel[]
  readonly tables: ZoneTables
}

/** Reuses the names of the last bundle: names change less often than their data. */
export class ZoneMemory {
  #last: LastNames | undefined

  /** Like `layOut`; the result must not be modified. @param services in the order of uids */
  columns(
    model: BundleModel,
    services: readonly ServiceModel[],
    isGoodSeed: (seed: number) => boolean,
  ): ZoneTables {
    const tables = this.#carried(model, services, isGoodSeed) ?? layOut(model, services, isGoodSeed)
    this.#last = { model, services, tables }
    return tables
  }

  #carried(
    model: BundleModel,
    services: readonly ServiceModel[],
    isGoodSeed: (seed: number) => boolean,
  ): ZoneTables | undefined {
    const last = this.#last
    if (last === undefined || !areAlike(model.zones, last.model.zones, isSameZone)) return undefined
    if (!areAlike(model.rrsets, last.model.rrsets, Object.is)) return undefined
    const changes = last.services === services ? null : changesOf(last.services, services)
    if (changes === undefined) return undefined
    const isSame = changes === null || changes.added.length + changes.removed.length === 0
    // The names of the rules affect the choice of the seed.
    const hasSameRules = areAlike(model.responseRules, last.model.responseRules, Object.is)
    if (isSame && hasSameRules) return last.tables
    return edited(last.tables, services, changes ?? changesOf(services, services)!, isGoodSeed)
  }
}

interface NameChanges {
  /** Row of each service in the last bundle, by its new row; -1: its name is new. */
  readonly rowBefore: Int32Array
  /** Services whose names are new. */
  readonly added: readonly number[]
  /** Names that were removed. */
  readonly removed: readonly string[]
}

/** Share of changed names beyond which a full layout is as fast. */
const editedShareMax = 1 / 16

/** Compares two lists in the order of uids. @returns undefined when there are too many changes */
function changesOf(
  before: readonly ServiceModel[],
  now: readonly ServiceModel[],
): NameChanges | undefined {
  const rowBefore = new Int32Array(now.length)
  const added: number[] = []
  const removed: string[] = []
  const max = Math.max(before.length, now.length) * editedShareMax
  let at = 0
  for (let row = 0; row < now.length; row++) {
    const service = now[row]!
    while (at < before.length && before[at] !== service && before[at]!.uid < service.uid) {
      removed.push(before[at++]!.domain)
    }
    const other = before[at]
    if (other !== undefined && isSameName(service, other)) rowBefore[row] = at++
    else {
      rowBefore[row] = -1
      added.push(row)
      if (other?.uid === service.uid) removed.push(before[at++]!.domain)
    }
    if (added.length + removed.length > max) return undefined
  }
  while (at < before.length) removed.push(before[at++]!.domain)
  return added.length + removed.length > max ? undefined : { rowBefore, added, removed }
}

/** Returns the tables of the last bundle with other services and the same zones. */
function edited(
  last: ZoneTables,
  services: readonly ServiceModel[],
  { rowBefore, added, removed }: NameChanges,
  isGoodSeed: (seed: number) => boolean,
): ZoneTables {
  const edit = new NameEdit(last.laid)
  for (const domain of removed) edit.remove(domain)
  for (const row of added) edit.add(services[row]!.domain, last.rowOfZone[services[row]!.zone]!)
  const { laid, moved, indexOf } = edit.finish()
  const serviceNode = new Uint32Array(services.length)
  for (let row = 0; row < serviceNode.length; row++) {
    const before = rowBefore[row]!
    const node =
      before < 0 ? indexOf.get(services[row]!.domain)! : moved[last.serviceNode[before]!]!
    serviceNode[row] = node
    laid.nodeRow[node * NodeCell.Words + NodeCell.Service] = row + 1
  }
  const { nameIndex, nameSeed } = nameIndexOf(laid, isGoodSeed)
  const { zoneNode, targetNode } = last.columns
  const columns = {
    ...last.columns,
    names: laid.names,
    nodeRow: laid.nodeRow,
    nameIndex,
    zoneNode: zoneNode.map((node) => moved[node]!),
    targetNode: targetNode.map((node) => moved[node]!),
  }
  return { ...last, laid, nameSeed, serviceNode, columns }
}

function areAlike<T>(
  items: readonly T[],
  others: readonly T[],
  isSame: (a: T, b: T) => boolean,
): boolean {
  return items.length === others.length && items.every((item, i) => isSame(item, others[i]!))
}

function isSameZone(a: ZoneModel, b: ZoneModel): boolean {
  const hasSameTtl = a.nsTtlSeconds === b.nsTtlSeconds
  const isAlike =
    hasSameTtl &&
    a.algorithm === b.algorithm &&
    a.hasSignals === b.hasSignals &&
    a.csync === b.csync
  return a.name === b.name && a.soa === b.soa && a.nameservers === b.nameservers && isAlike
}

function isSameName(a: ServiceModel, b: ServiceModel): boolean {
  return a === b || (a.uid === b.uid && a.domain === b.domain && a.zone === b.zone)
}

/** @param isGoodSeed whether other names are spread well under the seed, too */
function layOut(
  model: BundleModel,
  services: readonly ServiceModel[],
  isGoodSeed: (seed: number) => boolean,
) {
  const table = new NameTable(model.zones.map((zone) => zone.name))
  const apexWires = model.zones.map((zone) => wireOf(zone.name))
  addZones(table, model.zones)
  addHosts(table, model.zones, apexWires)
  for (const rrset of model.rrsets) table.addRrset(rrset.name, rrset.zone, rrset)
  const serviceNodes = services.map(({ domain, zone }, row) => {
    const node = table.add(domain, zone)
    table.setService(node, row)
    return node
  })
  table.markBelow()
  const order = table.finish()
  const apexes = Array.from(model.zones, ({ name }) => table.indexOf(table.find(name)!))
  // Zones are sorted by name, whatever the order of their declaration.
  const zones = Uint32Array.from(apexes.keys()).sort((a, b) => apexes[a]! - apexes[b]!)
  const rowOfZone = new Uint32Array(zones.length)
  for (const [row, zone] of zones.entries()) rowOfZone[zone] = row
  const rrsets = rrsetColumns(table, order, apexWires)
  const laid = table.lay(order, rowOfZone)
  const { nameIndex, nameSeed } = nameIndexOf(laid, isGoodSeed)
  return {
    laid,
    rowOfZone,
    nameSeed,
    serviceNode: Uint32Array.from(serviceNodes, (node) => table.indexOf(node)),
    columns: {
      names: laid.names,
      nodeRow: laid.nodeRow,
      nameIndex,
      zoneNode: zones.map((zone) => apexes[zone]!),
      zoneParent: Int32Array.from(zones, (zone) => rowOfZone[table.zoneParents[zone]!] ?? -1),
      ...rrsets,
    },
  }
}

function addZones(table: NameTable, zones: readonly ZoneModel[]): void {
  for (const [i, zone] of zones.entries()) {
    const { name, soa, nsTtlSeconds, nameservers, csync } = zone
    table.addRrset(name, i, soaRrset(soa, i))
    if (zone.algorithm !== undefined) addPlaceholder(table, i, zone)
    if (csync !== undefined) table.addRrset(name, i, csyncRrset(zone, csync, i))
    const servers = new Set(nameservers.map((server) => server.name))
    if (servers.size === 0) continue
    const rdata = Array.from(servers, wireOf)
    table.addRrset(name, i, { type: RrType.NS, ttlSeconds: nsTtlSeconds, rdata, zone: i })
  }
}

/** Adds the placeholder rrset that marks a zone as signed. */
function addPlaceholder(
  table: NameTable,
  zone: number,
  { name, algorithm, hasSignals, soa: { ttlSeconds } }: ZoneModel,
): void {
  const rdata = [keyPlaceholder(algorithm!, hasSignals)]
  table.addRrset(name, zone, { type: RrType.DNSKEY, ttlSeconds, rdata, zone })
  table.mark(table.add(name, zone), NodeFlag.Signed)
}

/** NS, A and AAAA are to be taken over. RFC 7477 section 2.1. */
function csyncRrset({ soa }: ZoneModel, flags: number, zone: number) {
  const isBase = (flags & CsyncFlag.SoaMinimum) !== 0
  const rdata = Buffer.alloc(csyncFixedBytes)
  rdata.writeUInt32BE(isBase ? soa.serialBase : 0, 0)
  rdata.writeUInt16BE(isBase ? flags | CsyncFlag.SerialIsBase : flags, 4)
  const types = Buffer.from([0, 4, 0x60, 0, 0, 0x08])
  const { ttlSeconds } = soa
  return { type: RrType.CSYNC, ttlSeconds, rdata: [Buffer.concat([rdata, types])], zone }
}

const csyncFixedBytes = 6

interface Host {
  /** The zone that contains the addresses. */
  readonly zone: number
  readonly ttlSeconds: number
  readonly addresses: readonly string[]
}

/**
 * Adds the addresses of name servers inside their zone. When nested zones name the same server, the
 * closest zone gets its addresses.
 */
function addHosts(
  table: NameTable,
  zones: readonly ZoneModel[],
  apexWires: readonly Uint8Array[],
): void {
  const hosts = new Map<string, Host>()
  for (const [i, zone] of zones.entries()) {
    const withAddresses = zone.nameservers.filter((server) => server.addresses.length > 0)
    const apex = apexWires[i]!
    for (const { name, addresses } of withAddresses) {
      const known = hosts.get(name)
      const isFarther = known !== undefined && apexWires[known.zone]!.length > apex.length
      if (isFarther || !isInZone(wireOf(name), apex)) continue
      hosts.set(name, { zone: i, ttlSeconds: zone.nsTtlSeconds, addresses })
    }
  }
  for (const [name, { zone, ttlSeconds, addresses }] of hosts) {
    const octets = Array.from(new Set(addresses), addressOctets)
    for (const [type, bytes] of addressTypes) {
      const rdata = octets.filter(({ length }) => length === bytes)
      if (rdata.length === 0) continue
      // The server may be below a cut to another zone of ours, which then answers for it.
      table.addRrset(name, table.enclosingZone(name), { type, ttlSeconds, rdata, zone })
    }
  }
}

const addressTypes = [
  [RrType.A, 4],
  [RrType.AAAA, 16],
] as const
