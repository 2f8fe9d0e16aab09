// Exports the records of a zone for another server from a bundle: static ones, those of the
// settings, and for balanced names the addresses of all enabled members.
import { isDiscoveredName } from '#bundle/discovered/from.ts'
import {
  addressOfMember,
  nameOfNode,
  nameOfZone,
  poolOfService,
  serviceCell,
  textOf,
  zoneOfNode,
} from '#bundle/format/bundle.ts'
import type { Bundle } from '#bundle/format/bundle.ts'
import { MemberFlag, NodeCell } from '#bundle/format/cells.ts'
import { hostnameOfMember, isAlias } from '#bundle/format/hostnames.ts'
import { firstPolicyCode, PolicyCell } from '#bundle/format/routing-cells.ts'
import { parsePolicyText } from '#bundle/format/routing-text.ts'
import { rrsetsOfNode } from '#bundle/load/rrset-values.ts'
import type { RrsetValue } from '#bundle/load/rrset-values.ts'
import { formatName, foldName, parseName } from '#dns/name.ts'
import { parseRdata, rdataTypeNamed } from '#dns/rdata/rdata-types.ts'
import { RrType } from '#dns/rrtype.ts'
import { findWritten } from '#answer/dynamic.ts'
import { hiddenBy } from '#zones/dynamic/hidden-names.ts'
import type { ZoneRecord } from '#dns/zone-file/zone-record.ts'
import { assert } from '#lib/assert.ts'
import { membersOf } from '#routing/state/candidates.ts'
import { wayOfCode } from '#routing/choose/ways.ts'

export interface ZoneExport {
  readonly origin: Uint8Array
  readonly records: readonly ZoneRecord[]
  /** Sentences on what the file cannot express. */
  readonly remarks: readonly string[]
}

/**
 * @param written of the zones of `bundle`: records that were written at run time
 * @returns undefined when the bundle has no such zone
 */
export function exportZone(
  bundle: Bundle,
  name: string,
  serial: number | undefined,
  written?: Bundle,
): ZoneExport | undefined {
  const zones = Array.from(bundle.zoneNode, (_, zone) => zone)
  const zone = zones.find((one) => nameOfZone(bundle, one) === name)
  if (zone === undefined) return undefined
  const apex = bundle.zoneNode[zone]!
  const records: ZoneRecord[] = []
  for (let node = 0; node < bundle.counts.nodes; node++) {
    if (zoneOfNode(bundle, node) !== zone) continue
    const owner = nameOfNode(bundle, node)
    for (const rrset of rrsetsOfNode(bundle, node)) {
      // DS at an apex belongs to the parent.
      if (node === apex && rrset.type === RrType.DS) continue
      // The DNSKEY rrset is a placeholder: nodes have the keys.
      if (node === apex && rrset.type === RrType.DNSKEY) continue
      // Texts written at run time come with those of the name.
      if (rrset.type === RrType.TXT && hasTexts(bundle, node, written)) continue
      const rdata = rrset.type === RrType.SOA ? withSerial(rrset.rdata, serial) : rrset.rdata
      records.push(...recordsOf(owner, { ...rrset, rdata }))
    }
  }
  records.push(...delegationsOf(bundle, zone))
  if (written !== undefined) records.push(...writtenIn(bundle, written, name))
  const remarks: string[] = []
  for (let service = 0; service < bundle.counts.services; service++) {
    if (zoneOfNode(bundle, bundle.serviceNode[service]!) !== zone) continue
    const balanced = balancedName(bundle, service)
    records.push(...balanced.records)
    remarks.push(balanced.remark)
  }
  return { origin: wire(name), records, remarks: remarks.sort() }
}

function hasTexts(bundle: Bundle, node: number, written: Bundle | undefined): boolean {
  return written !== undefined && findWritten(written, bundle, node, RrType.TXT) >= 0
}

/** The second bundle numbers zones in its own way; the SOA record of each says nothing. */
function writtenIn(bundle: Bundle, written: Bundle, zone: string): ZoneRecord[] {
  const records: ZoneRecord[] = []
  for (let node = 0; node < written.counts.nodes; node++) {
    if (nameOfZone(written, zoneOfNode(written, node)) !== zone) continue
    const owner = nameOfNode(written, node)
    if (hiddenBy(bundle, wire(owner)) !== undefined) continue
    const rrsets = rrsetsOfNode(written, node).filter(({ type }) => type !== RrType.SOA)
    records.push(...rrsets.flatMap((rrset) => recordsOf(owner, rrset)))
  }
  return records
}

/** A bundle leaves the serial open: it is set when a node activates it. */
function withSerial(rdata: readonly Uint8Array[], serial: number | undefined): Uint8Array[] {
  return rdata.map((one) => {
    const copy = Buffer.from(one)
    const at = copy.length - 20
    copy.writeUInt32BE(serial ?? (copy.readUInt32BE(at) + 1) >>> 0, at)
    return copy
  })
}

interface Delegation {
  readonly records: ZoneRecord[]
  /** Names of the name servers. */
  readonly servers: ReadonlySet<string>
}

/**
 * NS and DS records of zones of ours below this one, with glue. One pass over all nodes, however
 * many zones there are.
 */
function delegationsOf(bundle: Bundle, parent: number): ZoneRecord[] {
  const delegations = new Map<number, Delegation>()
  for (let zone = 0; zone < bundle.zoneNode.length; zone++) {
    if (bundle.zoneParent[zone] === parent) delegations.set(zone, delegationOf(bundle, zone))
  }
  for (let node = 0; node < bundle.counts.nodes && delegations.size > 0; node++) {
    const delegation = delegations.get(zoneOfNode(bundle, node))
    if (delegation === undefined) continue
    const owner = nameOfNode(bundle, node)
    if (!delegation.servers.has(owner)) continue
    const addresses = rrsetsOfNode(bundle, node).filter(
      ({ type }) => type === RrType.A || type === RrType.AAAA,
    )
    delegation.records.push(...addresses.flatMap((rrset) => recordsOf(owner, rrset)))
  }
  return [...delegations.values()].flatMap(({ records }) => records)
}

/** The delegation without glue. */
function delegationOf(bundle: Bundle, zone: number): Delegation {
  const name = nameOfZone(bundle, zone)
  const atApex = rrsetsOfNode(bundle, bundle.zoneNode[zone]!)
  const cut = atApex.filter(({ type }) => type === RrType.NS || type === RrType.DS)
  const servers = cut
    .filter(({ type }) => type === RrType.NS)
    .flatMap(({ rdata }) => rdata.map((one) => formatName(foldName(one))))
  const records = cut.flatMap((rrset) => recordsOf(name, rrset))
  return { records, servers: new Set(servers) }
}

function recordsOf(owner: string, { type, ttlSeconds, rdata }: RrsetValue): ZoneRecord[] {
  return rdata.map((octets) => ({ owner: wire(owner), ttl: ttlSeconds, type, rdata: octets }))
}

/** A host name, or the source that a member is discovered from. */
const targetText = (hostname: string): string =>
  isDiscoveredName(hostname) ? `what ${hostname} finds` : `the host name ${hostname}`

/** The part of a service that a zone file can express, and a sentence on the rest. */
function balancedName(bundle: Bundle, service: number) {
  const domain = nameOfNode(bundle, bundle.serviceNode[service]!)
  const ttl = serviceCell(bundle, service, NodeCell.TtlSeconds)
  const pool = poolOfService(bundle, service)
  const members = pool < 0 ? [] : [...membersOf(bundle, pool)]
  const enabled = members.filter(
    (member) => (bundle.memberFlags[member]! & MemberFlag.Enabled) !== 0,
  )
  const hostnames = [...new Set(enabled.flatMap((one) => hostnameOfMember(bundle, one) ?? []))]
  const fixed = enabled.filter((one) => hostnameOfMember(bundle, one) === undefined)
  const records = fixed.map((one) => addressRecord(domain, ttl, addressOfMember(bundle, one)))
  const hasAlias = enabled.some((one) => isAlias(bundle, one))
  // A name has at most one CNAME: none of several can stand for all.
  if (hasAlias && hostnames.length === 1) records.push(record(domain, ttl, 'CNAME', hostnames[0]!))
  const count = fixed.length + hostnames.length
  const among = count === 1 ? 'one member' : `${count} members`
  const isWhole = hostnames.length === 0 || (hasAlias && hostnames.length === 1)
  const missing = isWhole ? '' : `, without ${hostnames.map(targetText).join(' and ')}`
  const how = choiceOf(bundle, service)
  const remark = `${domain} is balanced (${how}) among ${among}; here are all that are enabled`
  return { records, remark: remark + missing }
}

/** The algorithm, or the steps of a chain; a script step is shown without its program. */
function choiceOf(bundle: Bundle, service: number): string {
  const code = serviceCell(bundle, service, NodeCell.Algorithm)
  if (code < firstPolicyCode) return wayOfCode(code)?.name ?? `algorithm ${code}`
  const at = (code - firstPolicyCode) * PolicyCell.Words + PolicyCell.Text
  const policy = parsePolicyText(textOf(bundle, bundle.policyRow[at]!))
  assert(policy !== undefined, 'the loader has read every policy')
  const { algorithm, filterChain } = policy
  if (filterChain.length === 0) return algorithm
  return filterChain.map((step) => step.replace(/:[^]*$/, '')).join(', ')
}

const addressRecord = (name: string, ttl: number, address: string): ZoneRecord =>
  record(name, ttl, address.includes(':') ? 'AAAA' : 'A', address)

function record(name: string, ttl: number, typeName: string, value: string): ZoneRecord {
  const type = rdataTypeNamed(typeName)
  assert(type !== undefined, 'the type is known')
  const rdata = parseRdata(type, value)
  assert(rdata.ok, 'the bundle has checked values')
  return { owner: wire(name), ttl, type: type.code, rdata: rdata.value }
}

function wire(name: string): Uint8Array {
  const parsed = parseName(name)
  assert(parsed.ok, 'the bundle has checked names')
  return parsed.value
}
