// Converts the SOA record and the name servers of an imported zone to settings.
import type { JsonObject } from '#compiler/yaml/text.ts'
import { formatAddress } from '#dns/address.ts'
import { formatName, isAtOrBelow } from '#dns/name.ts'
import { rdataTypeOf } from '#dns/rdata/rdata-types.ts'
import { RrType } from '#dns/rrtype.ts'
import type { ZonePlace } from '#dns/zone-file/zone-record.ts'
import type { Note } from '#import/sources/imported.ts'
import { defaultTenant } from '#schemas/objects/tenant.ts'
import type { ZoneSets } from './record-sets.ts'
import type { RecordSet, RecordSets } from './set-list.ts'

interface ZoneSettings {
  /** An item of `spec.zones`. */
  readonly zone: JsonObject
  /** Sets that the settings do not cover. */
  readonly sets: RecordSets
  /** Names of its servers, in wire form. */
  readonly servers: readonly Uint8Array[]
  readonly notes: readonly Note[]
}

const addressTypes: readonly number[] = [RrType.A, RrType.AAAA]

/** @param tenant owner of the records; a tenant other than the default must be listed */
export function zoneSettingsOf({ origin, soa, sets }: ZoneSets, tenant: string): ZoneSettings {
  const isAddress = (i: number): boolean => addressTypes.includes(sets.at(i).type)
  const nsAt = sets.ofOwner(origin).find((i) => sets.at(i).type === RrType.NS)
  const ns = nsAt === undefined ? undefined : sets.at(nsAt)
  const taken = new Set(nsAt === undefined ? [] : [nsAt])
  const servers = ns?.rdata ?? []
  const nameservers = servers.map((rdata) => {
    const name = formatName(rdata).toLowerCase()
    const own = isAtOrBelow(rdata, origin) ? sets.ofOwner(rdata).filter(isAddress) : []
    // The settings have one TTL for servers and their addresses: addresses with another stay
    // records.
    const kept = own.every((i) => sets.at(i).ttl === ns!.ttl) ? own : []
    for (const i of kept) taken.add(i)
    const addresses = kept.flatMap((i) => sets.at(i).rdata.map((one) => formatAddress(one)))
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
  if (ns === undefined)
    notes.push(
      noNameservers(origin, soa?.place ?? (sets.length === 0 ? undefined : sets.at(0).place)),
    )
  return { zone, sets: sets.without(taken), servers, notes }
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

/** The first commit already gives a serial above the old one (RFC 1982). */
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
