// Reads the host that a record names, and tells an address that stands in its place.
import { parseAddress } from '#dns/address.ts'
import { foldName, formatName } from '#dns/name.ts'
import { RrType } from '#dns/rrtype.ts'

/** Octets before the name, by type. RFC 1035 section 3.3, RFC 2782. */
const hostAt: Readonly<Record<number, number>> = Object.freeze({
  [RrType.NS]: 0,
  [RrType.MX]: 2,
  [RrType.SRV]: 6,
})

/** Whether records of the type name a host. */
export function namesHost(type: number): boolean {
  return Object.hasOwn(hostAt, type)
}

/** @param type one that names a host @returns lower case, presentation form, final dot */
export function hostIn(type: number, rdata: Uint8Array): string {
  return formatName(foldName(rdata.subarray(hostAt[type] ?? 0)))
}

/** A name that is nothing but `192.0.2.1` or `2001:db8::1`, be it relative to its zone. */
export function isAddressName(name: string, zone: string): boolean {
  const isRelative = name.endsWith(`.${zone}`)
  const text = isRelative ? name.slice(0, -zone.length - 1) : name.slice(0, -1)
  return parseAddress(text).ok
}
