// Converts character strings between presentation form and octets. RFC 1035 sections 3.3 and 5.1.
import { escapedOctet, escapeForm } from './name-text.ts'
import type { Token } from './tokens.ts'
import type { ValueReader } from './value-reader.ts'

export interface ReadOctets {
  readonly octets: Uint8Array
  /** The column where each octet is written. */
  readonly columns: readonly number[]
}

/** The octets of a token's text; letters beyond ASCII become UTF-8. */
export function readString(values: ValueReader, token: Token): ReadOctets | undefined {
  const { text, column, isQuoted } = token
  return readOctets(values, text, isQuoted ? column + 1 : column)
}

/** @param column of the first character of `text` */
export function readOctets(
  values: ValueReader,
  text: string,
  column: number,
): ReadOctets | undefined {
  const octets: number[] = []
  const columns: number[] = []
  for (let i = 0; i < text.length; i++) {
    const here = column + i
    const code = text.codePointAt(i)!
    if (code === 0x5c) {
      const escaped = escapedOctet(text, i)
      if (escaped === undefined) return values.fail(here, escapeForm)
      octets.push(escaped.octet)
      columns.push(here)
      i += escaped.characters
    } else if ((code < 0x20 && code !== 0x09) || code === 0x7f) {
      return values.fail(here, '\\DDD for a control character')
    } else if (code >= 0xd800 && code <= 0xdfff) {
      return values.fail(here, 'a whole character: this is half of a pair')
    } else if (code === 0x22) {
      return values.fail(here, '\\" for a quote inside a text')
    } else if (code < 0x80) {
      octets.push(code)
      columns.push(here)
    } else {
      for (const octet of encoder.encode(String.fromCodePoint(code))) {
        octets.push(octet)
        columns.push(here)
      }
      if (code > 0xffff) i++
    }
  }
  return { octets: new Uint8Array(octets), columns }
}

const encoder = new TextEncoder()

/** Prints in quotes; octets that are not printable ASCII as `\DDD`. */
export function printString(octets: Uint8Array): string {
  const { buffer, byteOffset, length } = octets
  const text = Buffer.from(buffer, byteOffset, length).toString('latin1')
  return `"${text.replace(odd, escaped)}"`
}

/** Quotes, backslashes, and what is not printable ASCII. */
const odd = /[^\x20\x21\x23-\x5b\x5d-\x7e]/g

function escaped(character: string): string {
  const octet = character.charCodeAt(0)
  const isPrintable = octet >= 0x20 && octet < 0x7f
  return isPrintable ? `\\${character}` : `\\${String(octet).padStart(3, '0')}`
}
