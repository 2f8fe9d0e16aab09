// Prints a bundle as JSON with names instead of indices.
import {
  addressOfMember,
  hostOfNode,
  poolOfService,
  serviceCell,
  textOf,
  uidOf,
} from '#bundle/format/bundle.ts'
import type { Bundle } from '#bundle/format/bundle.ts'
import { MemberFlag, NodeCell } from '#bundle/format/cells.ts'
import { parseHealthCheck } from '#bundle/format/health-check.ts'
import { memberExtraOf } from '#bundle/format/member-extra.ts'
import { nsEntry, soaEntry, storedName } from '#bundle/format/records.ts'
import { responseRuleAt } from '#bundle/format/response-rules.ts'
import { overlaysOf } from '#bundle/format/overlays.ts'
import { formatAddress } from '#dns/address.ts'
import { formatName } from '#dns/name.ts'
import { membersOf } from '#routing/state/candidates.ts'
import { wayOfCode } from '#routing/choose/ways.ts'

export function bundleAsJson(bundle: Bundle): object {
  const { manifest, digest, counts } = bundle
  return {
    digest,
    manifest,
    zones: rows(counts.zones, (zone) => zoneAt(bundle, zone)),
    hosts: rows(counts.hosts, (host) => hostAt(bundle, host)),
    services: rows(counts.services, (service) => serviceAt(bundle, service)),
    pools: rows(counts.pools, (pool) => poolAt(bundle, pool)),
    responseRules: rows(counts.responseRules, (rule) => responseRuleAt(bundle, rule)),
    ...overlaysAsJson(bundle),
    names: rows(counts.nodes, (node) => nameAt(bundle, node)),
  }
}

/** Rollouts and windows; a window without a member is over each member of its pool. */
function overlaysAsJson(bundle: Bundle): object {
  const { rollouts, windows } = overlaysOf(bundle)
  const named = <T extends { readonly pool: number; readonly member: number }>(one: T) => ({
    ...one,
    pool: textOf(bundle, bundle.poolName[one.pool]!),
    member: one.member < 0 ? null : addressOfMember(bundle, one.member),
  })
  return { rollouts: rollouts.map(named), windows: windows.map(named) }
}

function rows<T>(count: number, at: (row: number) => T): T[] {
  return Array.from({ length: count }, (_, row) => at(row))
}

/** The owner name of a node. */
export function nameOfNode(bundle: Bundle, node: number): string {
  return formatName(bundle.names, bundle.nodeRow[node * NodeCell.Words + NodeCell.NameOffset])
}

export function nameOfZone(bundle: Bundle, zone: number): string {
  return nameOfNode(bundle, bundle.zoneNode[zone]!)
}

function nameAt(bundle: Bundle, node: number): object {
  const zone = bundle.nodeRow[node * NodeCell.Words + NodeCell.Zone]!
  const host = hostOfNode(bundle, node)
  return {
    name: nameOfNode(bundle, node),
    zone: nameOfZone(bundle, zone),
    ...(host < 0 ? {} : { host }),
  }
}

function zoneAt(bundle: Bundle, zone: number): object {
  const apex = nameOfZone(bundle, zone)
  const parent = bundle.zoneParent[zone]!
  return {
    name: apex,
    parent: parent < 0 ? null : nameOfZone(bundle, parent),
    soa: soaAt(bundle, bundle.zoneSoa[zone]!, apex),
    nameservers: nameserversAt(bundle, bundle.zoneNs[zone]!, apex),
  }
}

function soaAt({ soaData }: Bundle, entry: number, apex: string): object {
  const data = view(soaData)
  const mname = storedNameAt(soaData, entry + soaEntry.names, apex)
  const rname = storedNameAt(soaData, mname.end, apex)
  const timer = (index: number): number => data.getUint32(rname.end + index * 4)
  return {
    ttlSeconds: data.getUint32(entry + soaEntry.ttl),
    negativeTtlSeconds: data.getUint32(entry + soaEntry.negativeTtl),
    mname: mname.name,
    rname: rname.name,
    refreshSeconds: timer(0),
    retrySeconds: timer(1),
    expireSeconds: timer(2),
    minimumSeconds: timer(3),
  }
}

function nameserversAt({ nsData }: Bundle, entry: number, apex: string): string[] {
  let at = entry + nsEntry.servers
  return rows(nsData[entry + nsEntry.count]!, () => {
    const { name, end } = storedNameAt(nsData, at, apex)
    at = end + nsEntry.hostBytes
    return name
  })
}

/** A name as records.ts stores it, and the offset after it. */
function storedNameAt(data: Uint8Array, at: number, apex: string): { name: string; end: number } {
  const start = at + storedName.labels
  const end = start + data[at + storedName.prefixBytes]!
  const labels = formatName(Uint8Array.from([...data.subarray(start, end), 0]))
  const prefix = end === start ? '' : labels
  if (data[at + storedName.endsAtApex] !== 1) return { name: prefix === '' ? '.' : prefix, end }
  return { name: `${prefix}${apex}`, end }
}

function hostAt(bundle: Bundle, host: number): object {
  const first = bundle.hostAddressStart[host]!
  const count4 = bundle.hostCount4[host]!
  return {
    name: nameOfNode(bundle, bundle.hostNode[host]!),
    ttlSeconds: bundle.hostTtlSeconds[host],
    addresses: rows(count4 + bundle.hostCount6[host]!, (i) => {
      const start = (first + i) * 16
      return formatAddress(bundle.hostAddresses.slice(start, start + (i < count4 ? 4 : 16)))
    }),
  }
}

function serviceAt(bundle: Bundle, service: number): object {
  const code = serviceCell(bundle, service, NodeCell.Algorithm)
  const pool = poolOfService(bundle, service)
  return {
    uid: uidOf(bundle.serviceUid, service),
    tenant: textOf(bundle, bundle.serviceTenant[service]!),
    name: textOf(bundle, bundle.serviceName[service]!),
    domain: nameOfNode(bundle, bundle.serviceNode[service]!),
    algorithm: wayOfCode(code)?.name ?? `unknown (${code})`,
    ttlSeconds: serviceCell(bundle, service, NodeCell.TtlSeconds),
    pool: pool < 0 ? null : textOf(bundle, bundle.poolName[pool]!),
  }
}

function poolAt(bundle: Bundle, pool: number): object {
  const check = textOf(bundle, bundle.poolHealthCheck[pool]!)
  return {
    uid: uidOf(bundle.poolUid, pool),
    tenant: textOf(bundle, bundle.poolTenant[pool]!),
    name: textOf(bundle, bundle.poolName[pool]!),
    healthCheck: check === '' ? null : (parseHealthCheck(check) ?? check),
    minHealthy: bundle.poolMinHealthy[pool],
    members: [...membersOf(bundle, pool)].map((member) => ({
      uid: uidOf(bundle.memberUid, member),
      name: textOf(bundle, bundle.memberName[member]!),
      ipAddress: addressOfMember(bundle, member),
      port: bundle.memberPort[member],
      weight: bundle.memberWeight[member],
      priority: bundle.memberPriority[member],
      enabled: (bundle.memberFlags[member]! & MemberFlag.Enabled) !== 0,
      region: textOf(bundle, bundle.memberRegion[member]!),
      ...memberExtraOf(bundle, member),
    })),
  }
}

function view(octets: Uint8Array): DataView {
  return new DataView(octets.buffer, octets.byteOffset, octets.byteLength)
}
