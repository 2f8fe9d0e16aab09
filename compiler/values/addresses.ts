// Parses and normalizes the IP addresses of files, and tells which nobody can reach.
import { formatAddress, isMappedIpv4, parseAddress } from '#dns/address.ts'
import type { DiagnosticCode } from '#diagnostics/diagnostics.ts'

export interface CheckedAddress {
  /** The form of RFC 5952; undefined when the text is no usable address. */
  readonly canonical: string | undefined
  readonly fault:
    | {
        readonly code: DiagnosticCode
        readonly args: readonly string[]
        readonly suggestion: string
      }
    | undefined
}

export function checkAddress(text: string): CheckedAddress {
  const parsed = parseAddress(text)
  if (!parsed.ok) {
    return {
      canonical: undefined,
      fault: { code: 'address-invalid', args: [text], suggestion: addressIn(text) },
    }
  }
  const octets = parsed.value
  if (isMappedIpv4(octets)) {
    const plain = formatAddress(octets.subarray(12))
    return {
      canonical: undefined,
      fault: { code: 'address-mapped', args: [text, plain], suggestion: plain },
    }
  }
  const why = unusable(octets)
  if (why !== undefined) {
    return {
      canonical: undefined,
      fault: { code: 'address-unusable', args: [text, why], suggestion: '' },
    }
  }
  return { canonical: formatAddress(octets), fault: undefined }
}

/** With a prefix length, a port or a scheme around it; '' when there is none. */
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
