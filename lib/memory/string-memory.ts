// Keeps one copy of equal short strings, such as names that ten thousand objects share.

/** Length of an id; longer strings are seldom repeated, and take longer to look up. */
const lengthMax = 36
/** A power of two. A slot holds the last string with its hash. */
const slotCount = 4_096

const slots = new Array<string>(slotCount).fill('')

/**
 * @returns an equal string, mostly one seen before. A few in a thousand are kept twice, since the
 * table is small and needs no removal
 */
export function shared(text: string): string {
  if (text.length > lengthMax) return text
  const slot = slotOf(text)
  const seen = slots[slot]!
  if (seen === text) return seen
  const own = copyOf(text)
  slots[slot] = own
  return own
}

/** V8 copies shorter substrings. */
const cutMin = 13

/** A copy: a substring of V8 would keep the whole text in memory. */
function copyOf(text: string): string {
  if (text.length < cutMin) return text
  const encoding = isLatin1(text) ? 'latin1' : 'utf16le'
  return Buffer.from(text, encoding).toString(encoding)
}

function isLatin1(text: string): boolean {
  for (let i = 0; i < text.length; i++) if (text.charCodeAt(i) > 0xff) return false
  return true
}

/** Replaces the strings of new plain data in place. */
export function shareStrings(value: unknown): void {
  if (typeof value !== 'object' || value === null) return
  const fields = value as Record<string, unknown>
  for (const key of Object.keys(fields)) {
    const field = fields[key]
    if (typeof field === 'string') fields[key] = shared(field)
    else shareStrings(field)
  }
}

/** Computes FNV-1a. */
function slotOf(text: string): number {
  let hash = 0x811c9dc5
  for (let i = 0; i < text.length; i++) hash = Math.imul(hash ^ text.charCodeAt(i), 0x01000193)
  return (hash ^ (hash >>> 16)) & (slotCount - 1)
}
