// Reads the host name of a Host header into its wire form.
import { redirectLimits } from './limits.ts'

/** Results of `readHost` in place of a length. */
export const HostFault = {
  /**
   * A host that no redirect could have: an address, or a name with characters that host names lack.
   */
  None: 0,
  /** No host at all (RFC 9112 section 3.2): the request is refused. */
  Malformed: -1,
} as const

const labelBytesMax = 63
const dot = 0x2e
const colon = 0x3a

/** Characters that a host may have (RFC 3986 section 3.2.2) but no name of a redirect. */
const otherSigns = new Set([...".!$%&'()*+,;=~"].map((sign) => sign.charCodeAt(0)))

/**
 * Reads a host without its port and final dot, in lower case.
 *
 * @param name at least 256 octets, for the name in wire form
 * @returns how many octets the name has, or a HostFault
 */
export function readHost(header: string, name: Uint8Array): number {
  if (header === '') return HostFault.None
  if (header.charCodeAt(0) === 0x5b) return literal(header)
  const portAt = header.indexOf(':')
  if (portAt >= 0 && !isPort(header, portAt)) return HostFault.Malformed
  let end = portAt < 0 ? header.length : portAt
  if (end > redirectLimits.hostCharactersMax) return HostFault.Malformed
  if (header.charCodeAt(end - 1) === dot) end--
  let labelAt = 0
  let isName = end > 0
  for (let i = 0; i < end; i++) {
    const code = header.charCodeAt(i)
    if (code === dot) {
      const bytes = i - labelAt
      isName &&= bytes > 0 && bytes <= labelBytesMax
      name[labelAt] = bytes
      labelAt = i + 1
      continue
    }
    const octet = code >= 0x41 && code <= 0x5a ? code | 0x20 : code
    if (!isNameOctet(octet)) {
      if (!otherSigns.has(octet)) return HostFault.Malformed
      isName = false
    }
    name[i + 1] = octet
  }
  const last = end - labelAt
  if (!isName || last === 0 || last > labelBytesMax || end > 253) return HostFault.None
  name[labelAt] = last
  name[end + 1] = 0
  return end + 2
}

function isNameOctet(octet: number): boolean {
  const isLetter = octet >= 0x61 && octet <= 0x7a
  const isDigit = octet >= 0x30 && octet <= 0x39
  return isLetter || isDigit || octet === 0x2d || octet === 0x5f
}

function isPort(header: string, colonAt: number): boolean {
  if (header.length - colonAt > 6) return false
  for (let i = colonAt + 1; i < header.length; i++) {
    const code = header.charCodeAt(i)
    if (code < 0x30 || code > 0x39) return false
  }
  return true
}

/** Reads an IPv6 address in brackets: a valid host, but no redirect has one. */
function literal(header: string): number {
  const end = header.indexOf(']')
  const isWhole = end > 0 && end < 64 && /^\[[0-9a-fv:.]+\]$/i.test(header.slice(0, end + 1))
  const hasRest = end + 1 < header.length
  const isPlain = !hasRest || (header.charCodeAt(end + 1) === colon && isPort(header, end + 1))
  return isWhole && isPlain ? HostFault.None : HostFault.Malformed
}
