// Converts IP addresses between text and the rdata of A and AAAA records. RFC 1035 section 3.4.1,
// RFC 3596.
import { err, ok } from '#lib/result.ts'
import type { Result } from '#lib/result.ts'

/**
 * Parses a dotted quad or an RFC 4291 section 2.2 text form.
 *
 * @returns 4 or 16 octets
 */
export function parseAddress(text: string): Result<Uint8Array, 'not-an-address'> {
  const octets = text.includes(':') ? parseIpv6(text) : parseIpv4(text)
  return octets === undefined ? err('not-an-address') : ok(octets)
}

function parseIpv4(text: string): Uint8Array | undefined {
  const octets = new Uint8Array(4)
  let part = 0
  let value = -1
  for (let i = 0; i <= text.length; i++) {
    const code = i === text.length ? 0x2e : text.charCodeAt(i)
    if (code === 0x2e) {
      if (value < 0 || part > 3) return undefined
      octets[part++] = value
      value = -1
      continue
    }
    // Leading zeros are refused: some programs read 010 as eight, others as ten.
    if (code < 0x30 || code > 0x39 || value === 0) return undefined
    value = (value < 0 ? 0 : value * 10) + code - 0x30
    if (value > 255) return undefined
  }
  return part === 4 ? octets : undefined
}

function parseIpv6(text: string): Uint8Array | undefined {
  const halves = text.split('::')
  if (halves.length > 2) return undefined
  const head = groupsOf(halves[0]!, halves.length === 1)
  const tail = halves.length === 2 ? groupsOf(halves[1]!, true) : []
  if (head === undefined || tail === undefined) return undefined
  const missing = 8 - head.length - tail.length
  if (halves.length === 2 ? missing < 1 : missing !== 0) return undefined
  const octets = new Uint8Array(16)
  head.forEach((group, i) => putGroup(octets, i, group))
  tail.forEach((group, i) => putGroup(octets, 8 - tail.length + i, group))
  return octets
}

function putGroup(octets: Uint8Array, index: number, group: number): void {
  octets[index * 2] = group >> 8
  octets[index * 2 + 1] = group & 255
}

/** @param mayEndInIpv4 true for the last part of the text: `::ffff:192.0.2.1` */
function groupsOf(text: string, mayEndInIpv4: boolean): number[] | undefined {
  if (text === '') return []
  const groups: number[] = []
  const parts = text.split(':')
  for (const [i, part] of parts.entries()) {
    if (mayEndInIpv4 && i === parts.length - 1 && part.includes('.')) {
      const quad = parseIpv4(part)
      if (quad === undefined) return undefined
      groups.push((quad[0]! << 8) | quad[1]!, (quad[2]! << 8) | quad[3]!)
    } else if (/^[0-9a-fA-F]{1,4}$/.test(part)) {
      groups.push(parseInt(part, 16))
    } else {
      return undefined
    }
  }
  return groups
}

/** Prints 4 or 16 octets; IPv6 in the canonical form of RFC 5952 section 4. */
export function formatAddress(octets: Uint8Array): string {
  if (octets.length === 4) return octets.join('.')
  const groups: number[] = []
  for (let i = 0; i < 16; i += 2) groups.push((octets[i]! << 8) | octets[i + 1]!)
  const { start, length } = longestZeroRun(groups)
  const hex = groups.map((group) => group.toString(16))
  if (length < 2) return hex.join(':')
  return `${hex.slice(0, start).join(':')}::${hex.slice(start + length).join(':')}`
}

function longestZeroRun(groups: readonly number[]): { start: number; length: number } {
  let best = { start: 0, length: 0 }
  for (let i = 0; i < groups.length; i++) {
    let end = i
    while (groups[end] === 0) end++
    if (end - i > best.length) best = { start: i, length: end - i }
  }
  return best
}

/**
 * What limits count clients by: an IPv4 address, or an IPv6 /64, since one subscriber owns at least
 * that.
 *
 * @param octets 4 or 16
 * @returns hex
 */
export function subscriberOf(octets: Uint8Array): string {
  const isIpv6 = octets.length === 16 && !isMappedIpv4(octets)
  return Buffer.from(isIpv6 ? octets.subarray(0, 8) : octets.subarray(-4)).toString('hex')
}

/** True for an IPv4-mapped address, `::ffff:a.b.c.d`. RFC 4291 section 2.5.5.2. */
export function isMappedIpv4(octets: Uint8Array): boolean {
  if (octets.length !== 16 || octets[10] !== 0xff || octets[11] !== 0xff) return false
  return octets.subarray(0, 10).every((octet) => octet === 0)
}
