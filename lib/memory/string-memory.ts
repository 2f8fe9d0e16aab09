// Keeps one copy of equal short strings, such as the names that ten thousand objects share.

/** An id has as many; a longer one is seldom there twice, and takes longer to be looked up. */
const lengthMax = 36
/** A power of two. Slots hold the strings seen last: a new string replaces the one in its slot. */
const slotCount = 4_096

const slots = new Array<string>(slotCount).fill('')

/**
 * @returns an equal string: mostly one that was seen before. A few in a thousand of the frequent
 *   strings are kept twice: the table is small, and nothing has to be taken out of it
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

/** Fewer characters are copied when V8 cuts them out of a text. */
const cutMin = 13

/** What V8 cuts out of a text keeps all of that text in memory: a copy does not. */
function copyOf(text: string): string {
  if (text.length < cutMin) return text
  const encoding = isLatin1(text) ? 'latin1' : 'utf16le'
  return Buffer.from(text, encoding).toString(encoding)
}

function isLatin1(text: string): boolean {
  for (let i = 0; i < text.length; i++) if (text.charCodeAt(i) > 0xff) return false
  return true
}

/** The same for every string of plain data that is not in use yet: it is changed in place. */
export function shareStrings(value: unknown): void {
  if (typeof value !== 'object' || value === null) return
  const fields = value as Record<string, unknown>
  for (const key of Object.keys(fields)) {
    const field = fields[key]
    if (typeof field === 'string') fields[key] = shared(field)
    else shareStrings(field)
  }
}

/** FNV-1a. */
function slotOf(text: string): number {
  let hash = 0x811c9dc5
  for (let i = 0; i < text.length; i++) hash = Math.imul(hash ^ text.charCodeAt(i), 0x01000193)
  return (hash ^ (hash >>> 16)) & (slotCount - 1)
}
