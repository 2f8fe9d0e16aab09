// The text of TXT rdata, as SPF, DMARC and others read it.

/** All its strings, joined without blanks (RFC 7208 section 3.3), octets as Latin-1. */
export function textOf(rdata: Uint8Array): string {
  let text = ''
  for (let at = 0; at < rdata.length; at += rdata[at]! + 1) {
    text += Buffer.from(rdata.subarray(at + 1, at + 1 + rdata[at]!)).toString('latin1')
  }
  return text
}
