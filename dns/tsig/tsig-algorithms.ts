// The algorithms of TSIG. RFC 8945 section 6.
import { parseName } from '#dns/name.ts'

export interface TsigAlgorithm {
  /** Presentation form, with the final dot. */
  readonly name: string
  /** Wire form, in lower case. */
  readonly wire: Uint8Array
  /** Digest name of `node:crypto`. */
  readonly hash: string
  /** Octets of a MAC that is not truncated. */
  readonly macBytes: number
}

/** MD5, GSS-TSIG and the names for truncated MACs are left out. */
export const tsigAlgorithms: readonly TsigAlgorithm[] = Object.freeze([
  algorithm('hmac-sha256.', 'sha256', 32),
  algorithm('hmac-sha384.', 'sha384', 48),
  algorithm('hmac-sha512.', 'sha512', 64),
  algorithm('hmac-sha224.', 'sha224', 28),
  // RFC 8945 section 6: weak, but many clients have nothing else.
  algorithm('hmac-sha1.', 'sha1', 20),
])

export function tsigAlgorithm(name: string): TsigAlgorithm | undefined {
  return tsigAlgorithms.find((row) => row.name === name)
}

function algorithm(name: string, hash: string, macBytes: number): TsigAlgorithm {
  const wire = parseName(name)
  if (!wire.ok) throw new Error(`assertion failed: ${name} is a name`)
  return Object.freeze({ name, wire: wire.value, hash, macBytes })
}
