// What the SOA record and the name servers of an imported zone become in the settings.
import type { JsonObject } from '#compiler/yaml/text.ts'
import { formatAddress } from '#dns/address.ts'
import { formatName } from '#dns/name.ts'
import { rdataTypeOf } from '#dns/rdata/rdata-types.ts'
import { RrType } from '#dns/rrtype.ts'
import type { Note } from '#cli/import/sources/imported.ts'
import { defaultTenant } from '#schemas/objects/tenant.ts'
import { isBelow } from './record-set.ts'
import type { RecordSet } from './record-set.ts'
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
  const addressSets = new Map<string, RecordSet[]>()
  for (const set of sets) {
    if (set.type !== RrType.A && set.type !== RrType.AAAA) continue
    const name = formatName(set.owner)
    addressSets.set(name, [...(addressSets.get(name) ?? []), set])
  }
  const nameservers = (ns?.rdata ?? []).map((rdata) => {
    const name = formatName(rdata).toLowerCase()
    const own = isBelow(new Uint8Array(rdata).map(lower), origin)
      ? addressSets.get(name)
      : undefined
    for (const set of own ?? []) taken.add(set)
    const addresses = (own ?? []).flatMap((set) => set.rdata.map((one) => formatAddress(one)))
    return addresses.length === 0 ? { name } : { name, addresses }
  })
  const zone = {
    name: formatName(origin),
    ...(nameservers.length === 0 ? {} : { nameservers }),
    ...(soa === undefined ? {} : { soa: soaOf(soa) }),
    ...(tenant === defaultTenant ? {} : { tenants: [tenant] }),
  }
  const notes = soa === undefined ? [] : notesOf(soa, [...taken])
  return { zone, sets: sets.filter((set) => !taken.has(set)), notes }
}

const lower = (octet: number): number => (octet >= 0x41 && octet <= 0x5a ? octet + 32 : octet)

function soaOf({ rdata, ttl }: RecordSet): JsonObject {
  const [mname, rname, , refresh, retry, expire, minimum] = soaFields(rdata[0]!)
  return {
    mname: mname!,
    ...(isPlain(rname!) ? { rname: rname! } : {}),
    refresh: Number(refresh),
    retry: Number(retry),
    expire: Number(expire),
    minimum: Number(minimum),
    ttl,
  }
}

/** The settings take no mailbox with a dot in its first label. */
const isPlain = (rname: string): boolean => !rname.includes('\\')

const soaFields = (rdata: Uint8Array): string[] => rdataTypeOf(RrType.SOA).print(rdata).split(' ')

function notesOf(soa: RecordSet, taken: readonly RecordSet[]): Note[] {
  const [, rname = '', serial] = soaFields(soa.rdata[0]!)
  const first: Note = {
    is: 'changed',
    place: soa.place,
    text: `SOA: the serial ${serial} is not kept; it will be the number of commits in the history`,
  }
  const others = taken.filter(({ ttl }) => ttl !== soa.ttl)
  const text = `SOA: the mailbox ${rname} is left to the settings, which take no backslash in it`
  const mailbox: Note[] = isPlain(rname) ? [] : [{ is: 'not mapped', place: soa.place, text }]
  return [
    first,
    ...mailbox,
    ...others.map(({ owner, type, ttl, place }): Note => {
      const name = `${formatName(owner)} ${rdataTypeOf(type).name}`
      const text = `${name}: TTL ${soa.ttl} as the SOA record, it was ${ttl}`
      return { is: 'changed', place, text }
    }),
  ]
}
