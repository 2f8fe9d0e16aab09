// A zone as a zone file: served by other servers as it is, and by ours from the resulting model.
import type { BundleModel, RrsetModel } from '#bundle/format/model.ts'
import { formatName, foldName } from '#dns/name.ts'
import { canonicalRdata, rdataTypeOf } from '#dns/rdata/rdata-types.ts'
import { parseZoneFile } from '#dns/zone-file/zone-file.ts'
import type { ZoneRecord } from '#dns/zone-file/zone-record.ts'
import { bareModel } from '#test/support/bundle-models.ts'
import { wireName } from '#test/support/dns/wire-name.ts'

export interface WrittenZone {
  /** Lower case with a final dot. */
  readonly name: string
  readonly text: string
}

/** The records of the file, owners in lower case. @throws when it has a fault */
export function recordsOf({ name, text }: WrittenZone): readonly ZoneRecord[] {
  const source = { path: name, octets: Buffer.from(text) }
  const { records, faults } = parseZoneFile(source, { origin: wireName(name) })
  if (faults.length > 0) throw new Error(JSON.stringify(faults))
  return Array.from(records, (record) => ({ ...record, owner: foldName(record.owner) }))
}

/**
 * The model that the compiler makes of such records; SOA and the NS records of the apex have one
 * TTL.
 */
export function rrsetsOf(records: readonly ZoneRecord[], zone = 0): RrsetModel[] {
  const groups = new Map<string, ZoneRecord[]>()
  for (const record of records) {
    const key = `${formatName(record.owner)} ${record.type}`
    const group = groups.get(key)
    if (group === undefined) groups.set(key, [record])
    else group.push(record)
  }
  return Array.from(groups.values(), (group): RrsetModel => {
    const { owner, type, ttl } = group[0]!
    const canonical = (rdata: Uint8Array) => canonicalRdata(rdataTypeOf(type), rdata)
    const rdata = group.map((record) => record.rdata)
    rdata.sort((a, b) => Buffer.compare(canonical(a), canonical(b)))
    const unique = rdata.filter(
      (one, i) => i === 0 || Buffer.compare(canonical(one), canonical(rdata[i - 1]!)) !== 0,
    )
    return { name: formatName(owner), zone, type, ttlSeconds: ttl, rdata: unique }
  })
}

const soaType = 6
const nsType = 2

export function modelOfWritten(written: WrittenZone): BundleModel {
  const rrsets = rrsetsOf(recordsOf(written))
  const ofApex = (type: number) =>
    rrsets.find((one) => one.name === written.name && one.type === type)
  const soa = ofApex(soaType)
  const ns = ofApex(nsType)
  if (soa === undefined || ns === undefined) throw new Error('SOA and NS')
  const wire = soa.rdata[0]!
  const mname = formatName(wire)
  const rnameAt = endOfName(wire, 0)
  const numbers = Buffer.from(wire.subarray(endOfName(wire, rnameAt)))
  const number = (index: number) => numbers.readUInt32BE(index * 4)
  return {
    ...bareModel,
    zones: [
      {
        name: written.name,
        soa: {
          mname,
          rname: formatName(wire, rnameAt),
          refreshSeconds: number(1),
          retrySeconds: number(2),
          expireSeconds: number(3),
          minimumSeconds: number(4),
          serialBase: 0,
          ttlSeconds: soa.ttlSeconds,
        },
        nsTtlSeconds: ns.ttlSeconds,
        nameservers: ns.rdata.map((rdata) => ({ name: formatName(rdata), addresses: [] })),
      },
    ],
    rrsets: rrsets.filter((one) => one !== soa && one !== ns),
  }
}

function endOfName(wire: Uint8Array, start: number): number {
  let at = start
  while (wire[at] !== 0) at += wire[at]! + 1
  return at + 1
}
