// Checks the records of a file: their names, types, values and sizes.
import { bundleLimits } from '#bundle/format/limits.ts'
import { rdataForms } from '#bundle/format/rrsets.ts'
import {
  aliasCode,
  hostIn,
  isAddressName,
  namesHost,
  readRecords,
  recordPlace,
} from '#compiler/values/record-sets.ts'
import type { ReadRrset } from '#compiler/values/read-rrset.ts'
import type { Place } from '#diagnostics/diagnostic.ts'
import type { Report } from '#diagnostics/finding.ts'
import { RrType } from '#dns/rrtype.ts'
import type { RecordsSpec } from '#schemas/objects/records.ts'
import type { ObjectRule } from './object-rule.ts'

/** Checks the names, types and values of records, each fault at its column. */
export const recordValues: ObjectRule<'Records'> = ({ spec }, report) => {
  readRecords(spec, report)
}

/** Checks which types may be where: at the apex, at a wildcard, more than once. */
export const recordTypes: ObjectRule<'Records'> = ({ spec }, report) => {
  const { zone, rrsets } = readRecords(spec)
  for (const rrset of rrsets) {
    checkMade(rrset, spec, zone, report)
    checkWildcard(rrset, report)
    const { index, type, from } = rrset
    if (!singleTypes.includes(type.code) || from.length < 2) continue
    const args = [rrset.name, type.name, String(from.length)]
    report('record-alias-several', recordPlace(index, 'values'), { args })
  }
}

/** RFC 2181 section 10.1, RFC 6672 section 2.4; ALIAS as with other providers. */
const singleTypes: readonly number[] = [RrType.CNAME, RrType.DNAME, aliasCode]

/** RFC 4034, RFC 5155, RFC 8976: types that depend on the content of the zone. */
const signingTypes: readonly number[] = [24, 46, 47, 48, 50, 51, 63]

function checkMade(
  { index, name, type }: ReadRrset,
  { records }: RecordsSpec,
  zone: string | undefined,
  report: Report,
): void {
  const isApex = name === zone
  const place = (): Place => recordPlace(index, 'type')
  if (type.code === RrType.SOA) {
    report('record-of-settings', place(), { args: ['SOA', zone ?? name, 'soa'] })
  } else if (isApex && type.code === RrType.NS) {
    report('record-of-settings', place(), { args: ['NS', name, 'nameservers'] })
  } else if (isApex && type.code === RrType.CNAME) {
    report('cname-at-apex', place(), { args: [name] })
  } else if (signingTypes.includes(type.code)) {
    report('record-of-signer', place(), { args: [records[index]!.type.toUpperCase()] })
  }
}

const oddWildcards: readonly number[] = [RrType.NS, RrType.DNAME, RrType.DS]

/** RFC 4592 sections 4.2, 4.4 and 4.6: their meaning at a wildcard is undefined. */
function checkWildcard({ index, name, type }: ReadRrset, report: Report): void {
  if (!name.startsWith('*.') || !oddWildcards.includes(type.code)) return
  report('record-wildcard-type', recordPlace(index, 'type'), { args: [name, type.name] })
}

/** Checks that host names in records are not addresses. */
export const recordHosts: ObjectRule<'Records'> = ({ spec }, report) => {
  // What a primary server answers is answered here, too.
  if (spec.transfer !== undefined) return
  const { zone = '', rrsets } = readRecords(spec)
  for (const rrset of rrsets) {
    const { index, type, from } = rrset
    if (!namesHost(type.code)) continue
    for (const [i, octets] of rrset.rdata.entries()) {
      if (!isAddressName(hostIn(type.code, octets), zone)) continue
      const written = spec.records[index]!.values[from[i]!]!
      const args = [written.trim().split(/\s+/).at(-1)!, type.name]
      report('record-target-address', recordPlace(index, 'values', from[i]!), { args })
    }
  }
}

/** Checks that the records of one name and type fit one answer. */
export const recordSize: ObjectRule<'Records'> = ({ spec }, report) => {
  for (const rrset of readRecords(spec).rrsets) {
    const { index, name, type, from } = rrset
    const bytes = bytesOf(rrset)
    if (bytes > rrsetBytesMax) {
      const args = [type.name, name, String(bytes), String(rrsetBytesMax)]
      report('rrset-too-large', recordPlace(index, 'values'), { args })
    }
    if (type.code !== RrType.NS || from.length <= serversMax) continue
    const args = [String(from.length), 'name servers of one name', String(serversMax)]
    report('record-too-many', recordPlace(index, 'values'), { args })
  }
}

const { rrsetBytesMax, nameserversPerZoneMax: serversMax } = bundleLimits

/** Counts as the bundle does: each record with its header, and the notes on names inside it. */
function bytesOf({ type, from, rdataBytes }: ReadRrset): number {
  const form = rdataForms[type.code]
  const perRecord = 12 + (form === undefined ? 0 : 4 + 2 * form.names)
  return rdataBytes + from.length * perRecord
}
