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

/** For keys with a secret. MD5 and the names for truncated MACs are left out. */
export const tsigAlgorithms: readonly TsigAlgorithm[] = Object.freeze([
  algorithm('hmac-sha256.', 'sha256', 32),
  algorithm('hmac-sha384.', 'sha384', 48),
  algorithm('hmac-sha512.', 'sha512', 64),
  algorithm('hmac-sha224.', 'sha224', 28),
  // RFC 8945 section 6: weak, but many clients have nothing else.
  algorithm('hmac-sha1.', 'sha1', 20),
])

/**
 * The MAC is made by a security context. RFC 3645 section 2. With Kerberos it has 28 octets for AES
 * and at most 40 for other types of keys.
 */
export const gssTsig: TsigAlgorithm = algorithm('gss-tsig.', '', 64)

export function tsigAlgorithm(name: string): TsigAlgorithm | undefined {
  return tsigAlgorithms.find((row) => row.name === name)
}

function algorithm(name: string, hash: string, macBytes: number): TsigAlgorithm {
  const wire = parseName(name)
  if (!wire.ok) throw new Error(`assertion failed: ${name} is a name`)
  return Object.freeze({ name, wire: wire.value, hash, macBytes })
}
