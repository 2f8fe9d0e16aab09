// Prints a bundle as JSON with names instead of indices.
import {
  addressOfMember,
  nameOfNode,
  nameOfZone,
  poolOfService,
  redirectsOf,
  serviceCell,
  textOf,
  uidOf,
  zoneOfNode,
} from '#bundle/format/bundle.ts'
import type { Bundle } from '#bundle/format/bundle.ts'
import { MemberFlag, NodeCell } from '#bundle/format/cells.ts'
import { parseHealthCheck } from '#bundle/format/health-check.ts'
import { memberExtraOf } from '#bundle/format/member-extra.ts'
import { rrsetsOfNode } from '#bundle/load/rrset-values.ts'
import type { RrsetValue } from '#bundle/load/rrset-values.ts'
import { responseRuleAt } from '#bundle/format/response-rules.ts'
import { overlaysOf } from '#bundle/format/overlays.ts'
import { rdataTypeOf } from '#dns/rdata/rdata-types.ts'
import { membersOf } from '#routing/state/candidates.ts'
import { wayOfCode } from '#routing/choose/ways.ts'

export function bundleAsJson(bundle: Bundle): object {
  const { manifest, digest, counts } = bundle
  return {
    digest,
    manifest,
    zones: rows(counts.zones, (zone) => zoneAt(bundle, zone)),
    services: rows(counts.services, (service) => serviceAt(bundle, service)),
    pools: rows(counts.pools, (pool) => poolAt(bundle, pool)),
    responseRules: rows(counts.responseRules, (rule) => responseRuleAt(bundle, rule)),
    redirects: redirectsOf(bundle),
    ...overlaysAsJson(bundle),
    names: rows(counts.nodes, (node) => nameAt(bundle, node)),
  }
}

/** Rollouts and windows; a window without a member covers each member of its pool. */
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

function nameAt(bundle: Bundle, node: number): object {
  return {
    name: nameOfNode(bundle, node),
    zone: nameOfZone(bundle, zoneOfNode(bundle, node)),
    rrsets: rrsetsOfNode(bundle, node).map(rrsetAsJson),
  }
}

function zoneAt(bundle: Bundle, zone: number): object {
  const parent = bundle.zoneParent[zone]!
  return {
    name: nameOfZone(bundle, zone),
    parent: parent < 0 ? null : nameOfZone(bundle, parent),
  }
}

/** Records as zone files write them; the serial of SOA is the base to which a node adds its own. */
function rrsetAsJson({ type, ttlSeconds, rdata }: RrsetValue): object {
  const { name, print } = rdataTypeOf(type)
  return { type: name, ttlSeconds, records: rdata.map((one) => print(one)) }
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
