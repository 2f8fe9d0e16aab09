// The records of a zone as another server would need them: static ones, those of the settings, and
// of balanced names the addresses of all enabled members.
import type { BundleModel, ZoneModel } from '#bundle/format/model.ts'
import { parseName } from '#dns/name.ts'
import { parseRdata, rdataTypeNamed } from '#dns/rdata/rdata-types.ts'
import type { ZoneRecord } from '#dns/zone-file/zone-record.ts'
import { assert } from '#lib/assert.ts'

export interface ZoneExport {
  readonly origin: Uint8Array
  readonly records: readonly ZoneRecord[]
  /** Sentences on what the file cannot say. */
  readonly remarks: readonly string[]
}

/** @returns undefined when the model has no such zone */
export function exportZone(
  model: BundleModel,
  name: string,
  serial: number,
): ZoneExport | undefined {
  const index = model.zones.findIndex((zone) => zone.name === name)
  const zone = model.zones[index]
  if (zone === undefined) return undefined
  const services = model.services.filter((service) => service.zone === index)
  const records = [
    ...ownRecords(zone, serial),
    ...model.zones.filter((one) => isChild(model, one, zone)).flatMap(nameserverRecords),
    ...model.rrsets
      .filter((rrset) => rrset.zone === index)
      .flatMap(({ name: owner, type, ttlSeconds, rdata }) =>
        rdata.map((octets) => ({ owner: wire(owner), ttl: ttlSeconds, type, rdata: octets })),
      ),
    ...services.flatMap(({ domain, ttlSeconds, pool }) =>
      (model.pools[pool]?.members ?? [])
        .filter(({ enabled }) => enabled)
        .map(({ ipAddress }) => addressRecord(domain, ttlSeconds, ipAddress)),
    ),
  ]
  const remarks = services.map(({ domain, algorithm, filterChain, pool }) => {
    const how = filterChain.length > 0 ? filterChain.map(shortened).join(', ') : algorithm
    const count = model.pools[pool]?.members.filter(({ enabled }) => enabled).length ?? 0
    const members = count === 1 ? 'one member' : `${count} members`
    return `${domain} is balanced (${how}) among ${members}; here are all that are enabled`
  })
  return { origin: wire(name), records, remarks: remarks.sort() }
}

/** A script step is a whole program. */
const shortened = (step: string): string => step.replace(/:[^]*$/, '')

function ownRecords(zone: ZoneModel, serial: number): ZoneRecord[] {
  const { mname, rname, refreshSeconds, retrySeconds, expireSeconds, minimumSeconds } = zone.soa
  const times = [serial, refreshSeconds, retrySeconds, expireSeconds, minimumSeconds]
  const soa = record(zone.name, zone.soa.ttlSeconds, 'SOA', [mname, rname, ...times].join(' '))
  return [soa, ...nameserverRecords(zone)]
}

/** NS records and the addresses of servers below the apex. */
function nameserverRecords({ name, nsTtlSeconds, nameservers }: ZoneModel): ZoneRecord[] {
  return nameservers.flatMap((server) => [
    record(name, nsTtlSeconds, 'NS', server.name),
    ...(isInside(server.name, name) ? server.addresses : []).map((address) =>
      addressRecord(server.name, nsTtlSeconds, address),
    ),
  ])
}

const isInside = (name: string, zone: string): boolean =>
  zone === '.' || name === zone || name.endsWith(`.${zone}`)

/** Whether a zone is delegated by `parent`, and by no zone between the two. */
function isChild({ zones }: BundleModel, zone: ZoneModel, parent: ZoneModel): boolean {
  if (zone === parent || !isInside(zone.name, parent.name)) return false
  return !zones.some(
    (one) =>
      one !== zone &&
      one !== parent &&
      isInside(zone.name, one.name) &&
      isInside(one.name, parent.name),
  )
}

const addressRecord = (name: string, ttl: number, address: string): ZoneRecord =>
  record(name, ttl, address.includes(':') ? 'AAAA' : 'A', address)

function record(name: string, ttl: number, typeName: string, value: string): ZoneRecord {
  const type = rdataTypeNamed(typeName)
  assert(type !== undefined, 'the type is known')
  const rdata = parseRdata(type, value)
  assert(rdata.ok, 'the compiler has checked the value')
  return { owner: wire(name), ttl, type: type.code, rdata: rdata.value }
}

function wire(name: string): Uint8Array {
  const parsed = parseName(name)
  assert(parsed.ok, 'the compiler has checked the name')
  return parsed.value
}
