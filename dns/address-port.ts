// Reads the address of a server with its port: `192.0.2.53`, `192.0.2.53:5353`,
// `[2001:db8::53]:5353`.
import { formatAddress, parseAddress } from './address.ts'

export interface AddressPort {
  /** In presentation form. */
  readonly address: string
  readonly port: number
}

/** @returns undefined: the text is none */
export function parseAddressPort(text: string, defaultPort: number): AddressPort | undefined {
  const [, v6, v4, digits] = /^(?:\[(.+)\]|([^:]+)):(\d{1,5})$/.exec(text) ?? []
  const address = parseAddress(v6 ?? v4 ?? text)
  const port = Number(digits ?? defaultPort)
  if (!address.ok || port < 1 || port > 65_535) return undefined
  return { address: formatAddress(address.value), port }
}
