// What the SOA record and the name servers of an imported zone become in the settings.
import type { JsonObject } from '#compiler/yaml/text.ts'
import { formatAddress } from '#dns/address.ts'
import { foldName, formatName, isAtOrBelow } from '#dns/name.ts'
import { rdataTypeOf } from '#dns/rdata/rdata-types.ts'
import { RrType } from '#dns/rrtype.ts'
import type { ZonePlace } from '#dns/zone-file/zone-record.ts'
import type { Note } from '#import/sources/imported.ts'
import { defaultTenant } from '#schemas/objects/tenant.ts'
import type { RecordSet } from './record-sets.ts'
import type { ZoneSets } from './record-sets.ts'

export interface ZoneSettings {
  /** An item of `spec.zones`. */
  readonly zone: JsonObject
  /** Without what the settings say. */
  readonly sets: readonly RecordSet[]
  readonly notes: readonly Note[]
}

/** @param tenant whose records they become; all but the default one have to be named */
export function zoneSettingsOf({ origin, soa, sets }: ZoneSets, tenant: string): ZoneSettings {
  const taken = new Set<RecordSet>()
  const isApex = (set: RecordSet): boolean => set.owner.length === origin.length
  const ns = sets.find((set) => set.type === RrType.NS && isApex(set))
  if (ns !== undefined) taken.add(ns)
  const servers = new Set(ns?.rdata.map((rdata) => formatName(foldName(rdata))))
  const addressSets = new Map<string, RecordSet[]>()
  for (const set of sets) {
    if (set.type !== RrType.A && set.type !== RrType.AAAA) continue
    const name = formatName(set.owner)
    if (!servers.has(name)) continue
    addressSets.set(name, [...(addressSets.get(name) ?? []), set])
  }
  const nameservers = (ns?.rdata ?? []).map((rdata) => {
    const name = formatName(rdata).toLowerCase()
    const own = isAtOrBelow(foldName(rdata), origin) ? addressSets.get(name) : undefined
    // The settings have one TTL for servers and their addresses: others stay records.
    const kept = own?.every(({ ttl }) => ttl === ns!.ttl) === true ? own : []
    for (const set of kept) taken.add(set)
    const addresses = kept.flatMap((set) => set.rdata.map((one) => formatAddress(one)))
    return addresses.length === 0 ? { name } : { name, addresses }
  })
  const zone = {
    name: formatName(origin),
    ...(nameservers.length === 0 ? {} : { nameservers }),
    ...(ns === undefined || ns.ttl === soa?.ttl ? {} : { nsTtl: ns.ttl }),
    ...(soa === undefined ? {} : { soa: soaOf(soa), ...serialBaseOf(soa) }),
    ...(tenant === defaultTenant ? {} : { tenants: [tenant] }),
  }
  const notes = notesOf(soa)
  if (ns === undefined) notes.push(noNameservers(origin, soa?.place ?? sets[0]?.place))
  return { zone, sets: sets.filter((set) => !taken.has(set)), notes }
}

function soaOf({ rdata, ttl }: RecordSet): JsonObject {
  const [mname, rname, , refresh, retry, expire, minimum] = soaFields(rdata[0]!)
  return {
    mname: mname!,
    rname: rname!,
    refresh: Number(refresh),
    retry: Number(retry),
    expire: Number(expire),
    minimum: Number(minimum),
    ttl,
  }
}

/** With at least one commit the serial is above the old one (RFC 1982). */
function serialBaseOf({ rdata }: RecordSet): JsonObject {
  const serial = Number(soaFields(rdata[0]!)[2])
  return serial === 0 ? {} : { serialBase: serial }
}

const soaFields = (rdata: Uint8Array): string[] => rdataTypeOf(RrType.SOA).print(rdata).split(' ')

function notesOf(soa: RecordSet | undefined): Note[] {
  if (soa === undefined) return []
  const serial = soaFields(soa.rdata[0]!)[2]
  const counted = 'and the number of commits in the history are added up from now on'
  const text = `SOA: the serial ${serial} (serialBase) ${counted}`
  return [{ is: 'changed', place: soa.place, text }]
}

function noNameservers(origin: Uint8Array, place: ZonePlace | undefined): Note {
  const zone = formatName(origin)
  const text = `${zone} has no NS records; name its servers as nameservers of the zone in gslb.yaml`
  return { is: 'not mapped', place: place ?? { path: zone, line: 1, column: 1 }, text }
}
