// Reads and prints the data of records in one plain form, for protocols that are no zone files:
// names are whole, in lower case, and a text is one string.
import { foldName, formatName, parseName } from '#dns/name.ts'
import { printString } from '#dns/rdata-text/string-text.ts'
import { canonicalRdata, parseRdata } from '#dns/rdata/rdata-types.ts'
import { RrType } from '#dns/rrtype.ts'
import { err, ok } from '#lib/result.ts'
import type { Result } from '#lib/result.ts'
import { rdataExample } from './rdata-examples.ts'
import { recordTypeNamed, recordTypeOf } from './record-sets.ts'

interface PlainValue {
  /** The plain form: the same for all that means the same. */
  readonly text: string
  /** As a file of the configuration has it. */
  readonly written: string
}

/** Names in these types are followed by a dot, as programs that write them expect it. */
const keepsDot: ReadonlySet<string> = new Set(['SRV', 'NAPTR'])
const root = new Uint8Array(1)
const encoder = new TextEncoder()
const utf8 = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true })

/**
 * @returns lower case, presentation form, final dot; undefined: it is no name
 */
export function plainName(text: string): string | undefined {
  const parsed = parseName(text)
  return !parsed.ok || text === '.' ? undefined : formatName(foldName(parsed.value))
}

/** Errors: what to write. */
export function plainValue(typeName: string, text: string): Result<PlainValue, string> {
  const type = recordTypeNamed(typeName)
  if (type === undefined) return err('the name of a type')
  if (type.code === RrType.TXT) return ok(textValue(textOctets(text)))
  const read = parseRdata(type, text, root)
  if (!read.ok) return err(`${read.error.expected}, such as ${rdataExample(type)}`)
  return ok(printed(type.code, read.value))
}

/** @param rdata in wire form */
export function plainTextOf(typeCode: number, rdata: Uint8Array): string {
  return printed(typeCode, rdata).text
}

function printed(typeCode: number, rdata: Uint8Array): PlainValue {
  if (typeCode === RrType.TXT) return textValue(joinedStrings(rdata))
  const type = recordTypeOf(typeCode)
  const written = type.print(canonicalRdata(type, rdata))
  const isShort = type.namesFold && !keepsDot.has(type.name)
  return { written, text: isShort ? written.replace(/([^\s.])\.$/, '$1') : written }
}

function joinedStrings(rdata: Uint8Array): Uint8Array {
  const octets: number[] = []
  for (let at = 0; at < rdata.length; at += rdata[at]! + 1) {
    for (const octet of rdata.subarray(at + 1, at + 1 + rdata[at]!)) octets.push(octet)
  }
  return Uint8Array.from(octets)
}

const stringBytesMax = 255

function textValue(octets: Uint8Array): PlainValue {
  const strings: string[] = []
  for (let at = 0; at === 0 || at < octets.length; at += stringBytesMax) {
    strings.push(printString(octets.subarray(at, at + stringBytesMax)))
  }
  return { text: quoted(octets), written: strings.join(' ') }
}

/** In quotes, with the characters that the octets are in UTF-8, if they are. */
function quoted(octets: Uint8Array): string {
  let text: string
  try {
    text = utf8.decode(octets)
  } catch {
    return printString(octets)
  }
  const escaped = text.replaceAll(/["\\]/g, '\\$&')
  return `"${escaped.replaceAll(/[\x00-\x1f\x7f]/g, escapedControl)}"`
}

const escapedControl = (sign: string): string => `\\${String(sign.charCodeAt(0)).padStart(3, '0')}`

/** The content of a plain text, without its quotes and escapes; undefined: it is not UTF-8. */
export function contentOf(text: string): string | undefined {
  try {
    return utf8.decode(textOctets(text))
  } catch {
    return undefined
  }
}

/** Strings in quotes, as in zone files, or a text without any that is meant as it is. */
function textOctets(text: string): Uint8Array {
  const isQuoted = text.length >= 2 && text.startsWith('"') && text.endsWith('"')
  if (!isQuoted) return encoder.encode(text)
  return unquoted(text) ?? encoder.encode(text.slice(1, -1))
}

/** @returns undefined: a quote ends too early, or an escape is none */
function unquoted(text: string): Uint8Array | undefined {
  const octets: number[] = []
  for (const part of text.matchAll(/"((?:[^"\\]|\\.)*)"(\s*)|([\s\S])/g)) {
    const [, inner, , stray] = part
    if (stray !== undefined || inner === undefined) return undefined
    for (const sign of inner.matchAll(/\\(\d{3})|\\([^\d])|([^\\]+)|\\/g)) {
      const [, digits, escaped, plain] = sign
      if (digits !== undefined && Number(digits) < 256) octets.push(Number(digits))
      else if (digits !== undefined || (escaped ?? plain) === undefined) return undefined
      else for (const octet of encoder.encode(escaped ?? plain)) octets.push(octet)
    }
  }
  return Uint8Array.from(octets)
}
