// Zones, owner names and name servers as columns.
import { assert } from '#lib/assert.ts'
import { NodeFlag } from './cells.ts'
import type { BundleModel, ServiceModel, ZoneModel } from './model.ts'
import { nameColumns, NameTable } from './name-table.ts'
import type { NameNode } from './name-table.ts'
import { isAtOrBelow, nsRecord, RecordPool, soaRecord, wireOf } from './record-pool.ts'
import { addressOctets } from './rows.ts'

interface Host {
  readonly node: NameNode
  /** Octets of the name of the zone that declares it. */
  readonly apexBytes: number
  readonly ttlSeconds: number
  readonly addresses: readonly Uint8Array[]
}

type ZoneTables = ReturnType<typeof layOut>

/** The names of the last bundle: they change less often than what is said of them. */
export class ZoneMemory {
  #last: readonly [BundleModel, readonly ServiceModel[], ZoneTables] | undefined

  /** As `zoneColumns`; what comes back is not to be written to. */
  columns(
    model: BundleModel,
    services: readonly ServiceModel[],
    isGoodSeed: (seed: number) => boolean,
  ): ZoneTables {
    const [lastModel, lastServices, last] = this.#last ?? []
    const isSame =
      last !== undefined &&
      // Their names have a say in the choice of the seed.
      areAlike(model.responseRules, lastModel!.responseRules, Object.is) &&
      areAlike(model.zones, lastModel!.zones, isSameZone) &&
      areAlike(services, lastServices!, isSameName)
    const tables = isSame ? last : layOut(model, services, isGoodSeed)
    this.#last = [model, services, tables]
    return tables
  }
}

function areAlike<T>(
  items: readonly T[],
  others: readonly T[],
  isSame: (a: T, b: T) => boolean,
): boolean {
  return items.length === others.length && items.every((item, i) => isSame(item, others[i]!))
}

function isSameZone(a: ZoneModel, b: ZoneModel): boolean {
  return a.name === b.name && a.soa === b.soa && a.nameservers === b.nameservers
}

function isSameName(a: ServiceModel, b: ServiceModel): boolean {
  return a === b || (a.domain === b.domain && a.zone === b.zone)
}

/** @param isGoodSeed whether other names, too, are spread well under a seed of the name hash */
function layOut(
  model: BundleModel,
  services: readonly ServiceModel[],
  isGoodSeed: (seed: number) => boolean,
) {
  const table = new NameTable(model.zones.map((zone) => zone.name))
  const hosts = addHosts(table, model.zones)
  const serviceNodes = services.map((service, row) => {
    const node = table.add(service.domain, service.zone)
    assert(node.service < 0, `${service.domain} belongs to one service`)
    node.service = row
    return node
  })
  const nodes = table.finish()
  const apexes = nodes.filter((node) => (node.flags & NodeFlag.Apex) !== 0)
  // Zones and hosts take the order of their names, whatever order they were declared in.
  const rowOfZone = new Uint32Array(model.zones.length)
  for (const [row, apex] of apexes.entries()) rowOfZone[apex.zone] = row
  const sortedZones = apexes.map((apex) => model.zones[apex.zone]!)
  const parents = apexes.map((apex) => table.zoneParents[apex.zone]!)
  const sortedHosts = numberHosts(nodes, hosts)
  for (const node of nodes) node.zone = rowOfZone[node.zone]!
  const { nameSeed, ...names } = nameColumns(nodes, isGoodSeed)
  return {
    nameSeed,
    serviceNode: Uint32Array.from(serviceNodes, (node) => node.index),
    columns: {
      ...names,
      zoneNode: Uint32Array.from(apexes, (apex) => apex.index),
      zoneParent: Int32Array.from(parents, (zone) => (zone < 0 ? -1 : rowOfZone[zone]!)),
      ...recordColumns(sortedZones, hosts),
      ...hostColumns(sortedHosts),
    },
  }
}

/**
 * Name servers that we have addresses for and that stand inside their zone, by name. Where nested
 * zones name the same server, the closest one says its addresses.
 */
function addHosts(table: NameTable, zones: readonly ZoneModel[]): Map<string, Host> {
  const hosts = new Map<string, Host>()
  for (const zone of zones) {
    const withAddresses = zone.nameservers.filter((server) => server.addresses.length > 0)
    if (withAddresses.length === 0) continue
    const apex = wireOf(zone.name)
    for (const { name, addresses } of withAddresses) {
      const known = hosts.get(name)
      const isFarther = known !== undefined && known.apexBytes > apex.length
      if (isFarther || !isAtOrBelow(wireOf(name), apex)) continue
      // The server may stand below a cut to another zone of ours, which then answers for it.
      const node = known?.node ?? table.add(name, table.enclosingZone(name))
      const octets = addresses.map(addressOctets)
      octets.sort((a, b) => a.length - b.length)
      const { ttlSeconds } = zone.soa
      hosts.set(name, { node, apexBytes: apex.length, ttlSeconds, addresses: octets })
    }
  }
  return hosts
}

/** Gives each host its row, in the order of the nodes. */
function numberHosts(nodes: readonly NameNode[], hosts: ReadonlyMap<string, Host>): Host[] {
  const sorted: Host[] = []
  if (hosts.size === 0) return sorted
  for (const node of nodes) {
    const host = hosts.get(node.name)
    if (host === undefined) continue
    node.host = sorted.length
    sorted.push(host)
  }
  return sorted
}

function hostColumns(hosts: readonly Host[]) {
  const addressCount = hosts.reduce((sum, host) => sum + host.addresses.length, 0)
  const columns = {
    hostNode: Uint32Array.from(hosts, (host) => host.node.index),
    hostTtlSeconds: Uint32Array.from(hosts, (host) => host.ttlSeconds),
    hostAddressStart: new Uint32Array(hosts.length),
    hostCount4: new Uint8Array(hosts.length),
    hostCount6: new Uint8Array(hosts.length),
    hostAddresses: new Uint8Array(addressCount * 16),
  }
  let row = 0
  for (const [i, { addresses }] of hosts.entries()) {
    columns.hostAddressStart[i] = row
    columns.hostCount4[i] = addresses.filter((octets) => octets.length === 4).length
    columns.hostCount6[i] = addresses.filter((octets) => octets.length === 16).length
    for (const octets of addresses) columns.hostAddresses.set(octets, row++ * 16)
  }
  return columns
}

function recordColumns(zones: readonly ZoneModel[], hosts: ReadonlyMap<string, Host>) {
  const soaPool = new RecordPool()
  const nsPool = new RecordPool()
  const zoneSoa = new Uint32Array(zones.length)
  const zoneNs = new Uint32Array(zones.length)
  for (const [i, zone] of zones.entries()) {
    const apex = wireOf(zone.name)
    const servers = zone.nameservers.map(({ name }) => ({
      name: wireOf(name),
      host: hosts.get(name)?.node.host ?? -1,
    }))
    zoneSoa[i] = soaPool.add(soaRecord(zone.soa, apex))
    zoneNs[i] = nsPool.add(nsRecord(zone.soa.ttlSeconds, servers, apex))
  }
  return { zoneSoa, zoneNs, soaData: soaPool.bytes(), nsData: nsPool.bytes() }
}
