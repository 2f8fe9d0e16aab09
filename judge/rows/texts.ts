// Compares texts of two bundles by their octets: most are equal, and are never decoded.
import type { BundleColumns } from '#bundle/format/bundle.ts'

type Texts = Pick<BundleColumns, 'stringBytes' | 'stringOffset'>

/**
 * @param at index in the string table of `base`
 *
 * @param otherAt index in that of `head`
 */
export function areTextsAlike(base: Texts, at: number, head: Texts, otherAt: number): boolean {
  const start = base.stringOffset[at]!
  const otherStart = head.stringOffset[otherAt]!
  const bytes = base.stringOffset[at + 1]! - start
  if (bytes !== head.stringOffset[otherAt + 1]! - otherStart) return false
  return areOctetsAlike(base.stringBytes, start, head.stringBytes, otherStart, bytes)
}

export function areOctetsAlike(
  one: Uint8Array,
  start: number,
  other: Uint8Array,
  otherStart: number,
  bytes: number,
): boolean {
  for (let i = 0; i < bytes; i++) if (one[start + i] !== other[otherStart + i]) return false
  return true
}
