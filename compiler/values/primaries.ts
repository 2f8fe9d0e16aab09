// Reads the addresses of primary servers, whose usual port says how they are asked.
import { parseAddressPort } from '#dns/address-port.ts'
import type { AddressPort } from '#dns/address-port.ts'

/** RFC 1035 section 4.2.2; RFC 7858 section 3.1. */
const usualPort = { plain: 53, tls: 853 } as const

/** @param tls name of its certificate; undefined: it is asked in the open */
export function primaryOf(text: string, tls: string | undefined): AddressPort | undefined {
  return parseAddressPort(text, tls === undefined ? usualPort.plain : usualPort.tls)
}
