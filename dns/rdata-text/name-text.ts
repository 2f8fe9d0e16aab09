// Reads and prints names as zone files write them: relative to an origin, `@`, each fault at its
// column.
import { foldTable, nameLimits } from '#dns/name.ts'
import type { Token } from './tokens.ts'
import type { ValueReader } from './value-reader.ts'

/** Whether a fault, perhaps with more behind it, is that a name is relative to nothing. */
export const isWithoutOrigin = (message: string): boolean =>
  /: (?:@ needs an origin|there is no origin)(?:, in "|$)/.test(message)

/**
 * Reads a name in presentation form; without a final dot it is relative to the reader's origin.
 *
 * @param says what the name is, for messages
 * @returns wire form
 */
export function readName(values: ValueReader, token: Token, says: string): Uint8Array | undefined {
  const { text, column } = token
  if (text === '@') {
    return values.origin ?? values.fail(column, `${says}, written out: @ needs an origin`)
  }
  if (text === '.') return new Uint8Array(1)
  const wire = scratch
  let labelStart = 0
  let end = 1
  for (let i = 0; i < text.length; i++) {
    const here = column + i
    let octet = text.charCodeAt(i)
    if (octet === 0x2e) {
      if (end - labelStart === 1) return values.fail(here, `${says}: a label before this dot`)
      wire[labelStart] = end - labelStart - 1
      labelStart = end++
      continue
    }
    if (octet === 0x5c) {
      const escaped = escapedOctet(text, i)
      if (escaped === undefined) return values.fail(here, escapeForm)
      octet = escaped.octet
      i += escaped.characters
    } else if (octet > 126 || octet < 0x21) {
      return values.fail(here, `${says} in ASCII (xn--… for other letters), \\DDD for other octets`)
    }
    if (end - labelStart > nameLimits.labelBytesMax) {
      return values.fail(here, `${says}: labels of at most 63 octets`)
    }
    if (end >= nameLimits.bytesMax) return values.fail(here, tooLong(says))
    wire[end++] = octet
  }
  if (end - labelStart === 1) {
    if (end > nameLimits.bytesMax) return values.fail(column, tooLong(says))
    wire[labelStart] = 0
    return wire.slice(0, end)
  }
  wire[labelStart] = end - labelStart - 1
  return withOrigin(values, token, says, wire.subarray(0, end))
}

/** Buffer in which a name is built; callers get a copy. */
const scratch = new Uint8Array(nameLimits.bytesMax + 1)

const tooLong = (says: string): string => `${says}: a name of at most 255 octets`

function withOrigin(
  values: ValueReader,
  { text, column }: Token,
  says: string,
  labels: Uint8Array,
): Uint8Array | undefined {
  const { origin } = values
  if (origin === undefined) {
    return values.fail(column + text.length, `${says} with a final dot: there is no origin`)
  }
  if (labels.length + origin.length > nameLimits.bytesMax) {
    return values.fail(column, `${tooLong(says)}, its origin included`)
  }
  const wire = new Uint8Array(labels.length + origin.length)
  wire.set(labels)
  wire.set(origin, labels.length)
  return wire
}

export const escapeForm = 'after a backslash three digits up to 255, or one character'

/** The octet that an escape at `at` stands for. */
export function escapedOctet(
  text: string,
  at: number,
): { readonly octet: number; readonly characters: number } | undefined {
  const shape = /^(?:\d{3}|[\x20-\x2f\x3a-\x7e])/.exec(text.slice(at + 1, at + 4))?.[0]
  if (shape === undefined) return undefined
  const octet = shape.length === 3 ? Number(shape) : shape.charCodeAt(0)
  return octet > 255 ? undefined : { octet, characters: shape.length }
}

/**
 * Prints a wire name so that a zone file reads it back: relative to `origin` where it ends in
 * exactly the same octets, letter case included; absolute otherwise, and without an origin.
 */
export function printName(wire: Uint8Array, origin?: Uint8Array, needsBackslashes = false): string {
  if (wire.length === 1) return '.'
  // The name is built as octets: V8 keeps every part of a text that grows character by character.
  let end = 0
  for (let at = 0; wire[at] !== 0;) {
    if (origin !== undefined && origin.length > 1 && endsIn(wire, at, origin)) {
      return at === 0 ? '@' : printed.toString('latin1', 0, end - 1)
    }
    const next = at + wire[at]! + 1
    for (at++; at < next; at++) {
      const octet = wire[at]!
      const escaped = (needsBackslashes ? escapeOfMost : escapeOf)[octet]
      if (escaped === undefined) printed[end++] = octet
      else end += printed.write(escaped, end, 'latin1')
    }
    printed[end++] = 0x2e
  }
  return printed.toString('latin1', 0, end)
}

function endsIn(wire: Uint8Array, at: number, origin: Uint8Array): boolean {
  if (wire.length - at !== origin.length) return false
  for (let i = 0; i < origin.length; i++) if (origin[i] !== wire[at + i]) return false
  return true
}

/** Characters with a meaning in a zone file. RFC 1035 section 5.1. */
const special = new Set([...'."$();@\\'].map((character) => character.charCodeAt(0)))

/** By octet; undefined: it stands for itself. */
const escapeOf = Array.from({ length: 256 }, (_, octet) => {
  if (special.has(octet)) return `\\${String.fromCharCode(octet)}`
  const isPlain = octet > 0x20 && octet < 0x7f
  return isPlain ? undefined : `\\${String(octet).padStart(3, '0')}`
})

/** The same with a backslash before all but letters, digits and the signs that Knot DNS reads. */
const escapeOfMost = escapeOf.map((escaped, octet) => {
  const character = String.fromCharCode(octet)
  return escaped ?? (/[\w*/-]/.test(character) ? undefined : `\\${character}`)
})

/** Large enough: four characters for each octet. */
const printed = Buffer.alloc(nameLimits.bytesMax * 4)

/**
 * A text that sorts as RFC 4034 section 6.1 sorts names: labels from last to first, ignoring case,
 * a name before its descendants.
 */
export function canonicalKey(wire: Uint8Array): string {
  // Filled from its end on: the last label comes first.
  let end = wire.length - 1
  for (let at = 0; wire[at] !== 0; at += wire[at]! + 1) {
    key[--end] = 0
    // Each octet plus one, so that zero marks the end of a label.
    end -= wire[at]!
    for (let i = 1; i <= wire[at]!; i++) key[end + i - 1] = foldTable[wire[at + i]!]! + 1
  }
  return keyOctets.toString('utf16le', 0, (wire.length - 1) * 2)
}

const key = new Uint16Array(nameLimits.bytesMax)
const keyOctets = Buffer.from(key.buffer)
