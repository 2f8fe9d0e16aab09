// Decodes percent escapes of others, which may be no escapes.

/** @returns undefined: a `%` begins no escape, or the octets are no UTF-8 */
export function unescapedPercent(text: string): string | undefined {
  try {
    return decodeURIComponent(text)
  } catch {
    return undefined
  }
}
