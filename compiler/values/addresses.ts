// Parses and normalizes the IP addresses of files, and finds unreachable ones.
import { formatAddress, isMappedIpv4, parseAddress } from '#dns/address.ts'
import { isLocalAddress } from '#dns/network.ts'
import type { DiagnosticCode } from '#diagnostics/diagnostics.ts'
import type { TextFault } from '#diagnostics/finding.ts'

interface CheckedAddress {
  /** The form of RFC 5952; undefined when the text is not a usable address. */
  readonly canonical: string | undefined
  readonly fault: TextFault | undefined
}

export function checkAddress(text: string): CheckedAddress {
  const parsed = parseAddress(text)
  if (!parsed.ok) return refused('address-invalid', [text], addressIn(text))
  const octets = parsed.value
  if (isMappedIpv4(octets)) {
    const plain = formatAddress(octets.subarray(12))
    return refused('address-mapped', [text, plain], plain)
  }
  const why = unusable(octets)
  if (why !== undefined) return refused('address-unusable', [text, why], '')
  return { canonical: formatAddress(octets), fault: undefined }
}

const refused = (
  code: DiagnosticCode,
  args: readonly string[],
  suggestion: string,
): CheckedAddress => ({ canonical: undefined, fault: { code, args, suggestion } })

/** The address inside a text with a prefix length, port or scheme; '' when there is none. */
function addressIn(text: string): string {
  const plain = text
    .trim()
    .replace(/^[a-z]+:\/\//i, '')
    .replace(/\/.*$/s, '')
    .replace(/^\[(.*)\](?::\d+)?$/, '$1')
    .replace(/^(\d+(?:\.\d+){3}):\d+$/, '$1')
  return plain !== text && parseAddress(plain).ok ? plain : ''
}

function unusable(octets: Uint8Array): string | undefined {
  if (octets.every((octet) => octet === 0)) return 'the unspecified address'
  const first = octets[0]!
  if (octets.length === 16) return first === 0xff ? 'a multicast address' : undefined
  if (first === 0) return 'an address of "this network"'
  if (octets.every((octet) => octet === 255)) return 'the broadcast address'
  if (first >= 224 && first <= 239) return 'a multicast address'
  return first >= 240 ? 'a reserved address' : undefined
}

/** Whether the text is an address of the node itself, its link or its cloud. */
export function isLocalText(text: string): boolean {
  const address = parseAddress(text)
  return address.ok && isLocalAddress(address.value)
}
