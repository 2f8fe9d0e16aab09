// Decodes percent escapes (RFC 3986 section 2.1) in text from outside, which may be malformed.

/** @returns undefined: a `%` begins no escape, or the octets are no UTF-8 */
export function unescapedPercent(text: string): string | undefined {
  try {
    return decodeURIComponent(text)
  } catch {
    return undefined
  }
}
