// Cuts a reply beyond a rate limit down to an empty one with TC: as long as its query, or 16 octets
// longer where a client without a server's cookie gets one.
import * as codes from '#dns/edns-codes.ts'
import * as header from '#dns/header.ts'

// Constants of this file, for the reason that answer.ts gives.
const { EdnsOption } = codes
const { Flag1, HeaderOffset } = header

/** Root name, type, class, TTL; then the length of the options. RFC 6891 section 6.1.2. */
const optLengthAt = 9
const optHeaderBytes = 11
const optionHeaderBytes = 4
/** Octets of a client subnet before its scope. RFC 7871 section 6. */
const scopeAt = 3

/**
 * Leaves header, question and OPT, and in OPT what the query had: client subnet and cookie. The
 * subnet gets scope 0, since nothing that is left depends on the client.
 *
 * @param start of the reply
 * @param headBytes of header and question
 * @param optAt octets of the reply before its OPT; 0: it has none
 * @returns octets of the reply
 */
export function slip(reply: Uint8Array, start: number, headBytes: number, optAt: number): number {
  reply[start + HeaderOffset.Flags1]! |= Flag1.Tc
  for (let at = HeaderOffset.AnCount; at < HeaderOffset.End; at++) reply[start + at] = 0
  if (optAt === 0) return headBytes
  reply[start + HeaderOffset.ArCount + 1] = 1
  const opt = start + headBytes
  const from = start + optAt
  let option = from + optHeaderBytes
  const end = option + shortAt(reply, from + optLengthAt)
  // Never ahead of what is read: OPT moves towards the question.
  for (let i = 0; i < optHeaderBytes; i++) reply[opt + i] = reply[from + i]!
  let to = opt + optHeaderBytes
  while (option < end) {
    const code = shortAt(reply, option)
    const next = option + optionHeaderBytes + shortAt(reply, option + 2)
    const at = to
    if (code === EdnsOption.ClientSubnet || code === EdnsOption.Cookie) {
      for (; option < next; option++) reply[to++] = reply[option]!
      if (code === EdnsOption.ClientSubnet) reply[at + optionHeaderBytes + scopeAt] = 0
    }
    option = next
  }
  const bytes = to - opt - optHeaderBytes
  reply[opt + optLengthAt] = bytes >> 8
  reply[opt + optLengthAt + 1] = bytes & 0xff
  return to - start
}

function shortAt(octets: Uint8Array, at: number): number {
  return (octets[at]! << 8) | octets[at + 1]!
}
