// Parses, prints, folds and hashes domain names in wire form. RFC 1035 section 3.1.
import { assert } from '#lib/assert.ts'
import { err, ok } from '#lib/result.ts'
import type { Result } from '#lib/result.ts'

export const nameLimits = {
  /** A whole name with its length octets and the root label. RFC 1035 section 2.3.4. */
  bytesMax: 255,
  labelBytesMax: 63,
  /** A name of 255 octets has at most 127 labels besides the root. */
  labelsMax: 127,
} as const

export type NameError =
  'empty' | 'label-empty' | 'label-too-long' | 'name-too-long' | 'bad-escape' | 'not-ascii'

/**
 * Maps A to Z to lower case and every other octet to itself. RFC 4343 section 3: only A to Z fold.
 * A length octet (0 to 63) is below `A`, so a whole wire name folds octet by octet.
 */
export const foldTable: Uint8Array = new Uint8Array(256).map((_, octet) =>
  octet >= 0x41 && octet <= 0x5a ? octet + 0x20 : octet,
)

const dot = 0x2e
const backslash = 0x5c
/** A backslash is followed by three digits, or by one character that is no digit. */
const escapeShape = /^(?:\d{3}|[\x21-\x2f\x3a-\x7e])/

/**
 * Parses presentation format: labels, dots, `\.` and `\DDD`. A missing final dot is accepted; case
 * is kept.
 *
 * @returns wire form, root label included, 1 to 255 octets
 */
export function parseName(text: string): Result<Uint8Array, NameError> {
  if (text === '') return err('empty')
  if (text === '.') return ok(new Uint8Array(1))
  const wire = parsed
  let labelStart = 0
  let end = 1
  for (let i = 0; i < text.length; i++) {
    let octet = text.charCodeAt(i)
    if (octet === dot) {
      if (end - labelStart === 1) return err('label-empty')
      wire[labelStart] = end - labelStart - 1
      labelStart = end++
      continue
    }
    if (octet === backslash) {
      const escape = escapeShape.exec(text.slice(i + 1, i + 4))
      if (escape === null) return err('bad-escape')
      octet = escape[0].length === 3 ? Number(escape[0]) : escape[0].charCodeAt(0)
      if (octet > 255) return err('bad-escape')
      i += escape[0].length
    } else if (octet > 126) {
      return err('not-ascii')
    }
    if (end - labelStart > nameLimits.labelBytesMax) return err('label-too-long')
    if (end >= nameLimits.bytesMax) return err('name-too-long')
    wire[end++] = octet
  }
  // Without a final dot the last label is still open; with one, an empty label waits to be the
  // root.
  if (end - labelStart > 1) {
    wire[labelStart] = end - labelStart - 1
    end++
  }
  if (end > nameLimits.bytesMax) return err('name-too-long')
  wire[end - 1] = 0
  return ok(wire.slice(0, end))
}

/** Buffer in which `parseName` builds a name; it returns a copy. */
const parsed = new Uint8Array(nameLimits.bytesMax + 1)

/** Prints a wire name that has been checked, with a final dot; unusual octets as `\DDD`. */
export function formatName(wire: Uint8Array, offset = 0): string {
  if (wire[offset] === 0) return '.'
  // The name is built as octets: V8 keeps every part of a text that grows character by character.
  let end = 0
  for (let at = offset; wire[at] !== 0;) {
    const next = at + wire[at]! + 1
    // Past the end of the octets nothing is a letter: the other function says so.
    if (!(next < wire.length)) return formatOddName(wire, offset)
    for (at++; at < next; at++) {
      const octet = wire[at]!
      if (octet <= 0x20 || octet >= 0x7f || octet === dot || octet === backslash) {
        return formatOddName(wire, offset)
      }
      printed[end++] = octet
    }
    printed[end++] = dot
  }
  return printed.toString('latin1', 0, end)
}

/** Large enough: a name without escapes is never longer in print than on the wire. */
const printed = Buffer.alloc(nameLimits.bytesMax)

function formatOddName(wire: Uint8Array, offset: number): string {
  let text = ''
  let at = offset
  for (; wire[at]! > 0; at += wire[at]! + 1) {
    for (let i = 1; i <= wire[at]!; i++) text += formatOctet(wire[at + i]!)
    text += '.'
  }
  assert(wire[at] === 0, 'a name begins at the offset, and ends within the octets')
  return text
}

function formatOctet(octet: number): string {
  if (octet === 0x2e || octet === 0x5c) return `\\${String.fromCharCode(octet)}`
  const isPlain = octet > 0x20 && octet < 0x7f
  return isPlain ? String.fromCharCode(octet) : `\\${String(octet).padStart(3, '0')}`
}

/** Copies a name with A to Z in lower case. */
export function foldName(wire: Uint8Array): Uint8Array {
  // Not `slice`, which shares the octets of a Buffer.
  const folded = new Uint8Array(wire)
  for (let i = 0; i < folded.length; i++) folded[i] = foldTable[folded[i]!]!
  return folded
}

/** Compares octets. Names in one letter case are the same exactly if their octets are. */
export function sameOctets(a: Uint8Array, b: Uint8Array): boolean {
  if (a.length !== b.length) return false
  for (let i = 0; i < a.length; i++) if (a[i] !== b[i]) return false
  return true
}

/**
 * Whether `name` equals `top` or lies below it.
 *
 * @param name wire form, in any letter case
 * @param top wire form, in lower case
 */
export function isAtOrBelow(name: Uint8Array, top: Uint8Array): boolean {
  let at = 0
  while (name.length - at > top.length) at += name[at]! + 1
  if (name.length - at !== top.length) return false
  for (let i = 0; i < top.length; i++) if (foldTable[name[at + i]!] !== top[i]) return false
  return true
}

/** Offsets of the labels, without the root label. */
export function labelOffsets(wire: Uint8Array): number[] {
  const offsets: number[] = []
  for (let at = 0; wire[at] !== 0; at += wire[at]! + 1) offsets.push(at)
  return offsets
}

/**
 * Folds four octets at once as `foldTable` does: bit 7 of a sum says that an octet is at least `A`,
 * or above `Z`.
 */
export function foldWord(word: number): number {
  const low = word & 0x7f7f7f7f
  const isUpper = (low + 0x3f3f3f3f) & ~(low + 0x25252525) & ~word & 0x80808080
  return word | (isUpper >>> 2)
}

/**
 * One step of the hash of a name. It runs over the words of the name from the last to the first:
 * four octets each, lowest first, counted from the end of the root label; zeros fill the first
 * word. So one walk also gives the hashes of all enclosing names. Each step depends on all before
 * it and on the seed: names chosen to collide under one seed differ under another.
 */
export function mixWord(hash: number, word: number): number {
  const mixed = hash ^ word
  // The shift mixes high bits down; the multiplication only carries bits up.
  return Math.imul(mixed ^ (mixed >>> 15), 0x9e3779b1 | 0)
}

/** The last step: folds the high bits into the low ones, from which a slot is taken. */
export function finishHash(hash: number): number {
  return hash ^ (hash >>> 15)
}

/** Hash of a whole folded name under `seed`, as a signed 32-bit number. */
export function hashName(folded: Uint8Array, seed: number): number {
  return hashNameAt(folded, 0, seed)
}

/** Hash of a folded name that begins at `start` of `octets`. */
export function hashNameAt(octets: Uint8Array, start: number, seed: number): number {
  let end = start
  while (octets[end] !== 0) end += octets[end]! + 1
  let hash = seed | 0
  for (let at = end + 1; at > start; at -= 4) {
    let word = 0
    for (let i = Math.max(at - 4, start); i < at; i++) word |= octets[i]! << ((i - at + 4) * 8)
    hash = mixWord(hash, word)
  }
  return finishHash(hash)
}
