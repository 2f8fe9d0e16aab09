// Parameters of SVCB and HTTPS, `key=value`: each known key reads and prints its own value. RFC
// 9460 sections 2.1, 7 and 14.3.2.
import { formatAddress, parseAddress } from '#dns/address.ts'
import { base64Form, base64Octets } from './binary-fields.ts'
import { wholeNumber } from './field.ts'
import { printString, readOctets } from './string-text.ts'
import type { ReadOctets } from './string-text.ts'
import type { ValueReader } from './value-reader.ts'

export interface ServiceParameter {
  readonly code: number
  readonly value: Uint8Array
  readonly column: number
}

interface Key {
  readonly code: number
  readonly name: string
  /** Faults go to `values`; `column` is that of the value's first character. */
  readonly parse: (read: ReadOctets, values: ValueReader, column: number) => Uint8Array | undefined
  /**
   * Text of the value before it is put in quotes; undefined when the octets are wrong.
   *
   * @param keyMax keys above it are `keyNNN`
   */
  readonly print: (value: Uint8Array, keyMax: number) => Uint8Array | undefined
}

/** One unescaped item of a comma-separated list, and the column of its first character. */
interface Item {
  readonly octets: Uint8Array
  readonly column: number
}

const textOf = (octets: Uint8Array): string => Buffer.from(octets).toString('latin1')
const octetsOf = (text: string): Uint8Array => Buffer.from(text, 'latin1')
const joinOctets = (parts: readonly Uint8Array[]): Uint8Array => Buffer.concat(parts)

/** Splits at commas; `\,` and `\\` stand for themselves. RFC 9460 appendix A.1. */
function itemsOf({ octets, columns }: ReadOctets, column: number): Item[] {
  const items: Item[] = []
  let item: number[] = []
  let start = column
  for (let i = 0; i < octets.length; i++) {
    if (octets[i] === 0x2c) {
      items.push({ octets: Uint8Array.from(item), column: start })
      item = []
      start = columns[i]! + 1
      continue
    }
    const next = octets[i + 1]
    if (octets[i] === 0x5c && (next === 0x2c || next === 0x5c)) i++
    item.push(octets[i]!)
  }
  items.push({ octets: Uint8Array.from(item), column: start })
  return items
}

/** Splits octets into groups of `size`; undefined when there are none or some are left over. */
function groupsOf(value: Uint8Array, size: number): Uint8Array[] | undefined {
  if (value.length === 0 || value.length % size !== 0) return undefined
  const groups: Uint8Array[] = []
  for (let at = 0; at < value.length; at += size) groups.push(value.subarray(at, at + size))
  return groups
}

const number16 = (octets: Uint8Array): number => octets[0]! * 256 + octets[1]!
const octets16 = (value: number): Uint8Array => Uint8Array.of(value >> 8, value & 255)

const mandatoryForm = 'names of other parameters, each once, with commas between them'
const mandatory: Key = {
  code: 0,
  name: 'mandatory',
  parse: (read, values, column) => {
    const codes = new Set<number>()
    for (const item of itemsOf(read, column)) {
      const code = codeOf(textOf(item.octets))
      if (code === undefined || code === 0 || codes.has(code)) {
        return values.fail(item.column, mandatoryForm)
      }
      codes.add(code)
    }
    return joinOctets([...codes].sort((a, b) => a - b).map(octets16))
  },
  print: (value, keyMax) => {
    const codes = groupsOf(value, 2)?.map(number16)
    if (codes === undefined || codes[0] === 0) return undefined
    if (codes.some((code, i) => i > 0 && code <= codes[i - 1]!)) return undefined
    if (codes.includes(invalidCode)) return undefined
    return octetsOf(codes.map((code) => parameterName(code, keyMax)).join(','))
  },
}

const alpn: Key = {
  code: 1,
  name: 'alpn',
  parse: (read, values, column) => {
    const parts: Uint8Array[] = []
    for (const { octets, column: here } of itemsOf(read, column)) {
      if (octets.length === 0 || octets.length > 255) {
        return values.fail(here, 'names of protocols, 1 to 255 octets each: alpn=h2,h3')
      }
      parts.push(Uint8Array.of(octets.length), octets)
    }
    return joinOctets(parts)
  },
  print: (value) => {
    const texts: string[] = []
    for (let at = 0; at < value.length; at += value[at]! + 1) {
      const id = value.subarray(at + 1, at + 1 + value[at]!)
      if (id.length === 0 || id.length !== value[at]) return undefined
      texts.push(textOf(id).replace(/[\\,]/g, '\\$&'))
    }
    return texts.length === 0 ? undefined : octetsOf(texts.join(','))
  },
}

/** A key without a value: its presence is the statement. */
const flag = (code: number, name: string): Key => ({
  code,
  name,
  parse: ({ octets }, values, column) =>
    octets.length > 0 ? values.fail(column, `${name} without a value`) : octets,
  print: (value) => (value.length > 0 ? undefined : value),
})

const port: Key = {
  code: 3,
  name: 'port',
  parse: ({ octets }, values, column) => {
    const number = wholeNumber(textOf(octets))
    return number === undefined || number > 65_535
      ? values.fail(column, 'a port, 0 to 65535')
      : octets16(number)
  },
  print: (value) => (value.length === 2 ? octetsOf(String(number16(value))) : undefined),
}

const addresses = (code: number, name: string, bytes: number, says: string): Key => ({
  code,
  name,
  parse: (read, values, column) => {
    const parts: Uint8Array[] = []
    for (const item of itemsOf(read, column)) {
      const address = parseAddress(textOf(item.octets))
      if (!address.ok || address.value.length !== bytes) return values.fail(item.column, says)
      parts.push(address.value)
    }
    return joinOctets(parts)
  },
  print: (value) => {
    const groups = groupsOf(value, bytes)
    return groups === undefined ? undefined : octetsOf(groups.map(formatAddress).join(','))
  },
})

const ech: Key = {
  code: 5,
  name: 'ech',
  parse: ({ octets }, values, column) =>
    base64Octets(textOf(octets)) ??
    values.fail(column, `an ECHConfigList in base64: ${base64Form}`),
  print: (value) =>
    value.length === 0 ? undefined : octetsOf(Buffer.from(value).toString('base64')),
}

/** RFC 9461 section 5: a relative URI template that has the variable `dns`. */
function isDohPath(octets: Uint8Array): boolean {
  const text = textOf(octets)
  if (!text.startsWith('/') || !isUtf8(octets)) return false
  return text.matchAll(/\{[?&+#/.;]?([\w.%,]+)\}/g).some(([, names = '']) => {
    const all = names.split(',')
    return all.includes('dns') && !all.includes('')
  })
}

function isUtf8(octets: Uint8Array): boolean {
  return Buffer.from(Buffer.from(octets).toString('utf8'), 'utf8').equals(octets)
}

const dohpath: Key = {
  code: 7,
  name: 'dohpath',
  parse: ({ octets }, values, column) =>
    isDohPath(octets)
      ? octets
      : values.fail(column, 'a path with the variable dns: dohpath=/dns-query{?dns}'),
  print: (value) => (isDohPath(value) ? value : undefined),
}

/** IANA "Service Parameter Keys (SvcParamKeys)". */
const keys: readonly Key[] = [
  mandatory,
  alpn,
  flag(2, 'no-default-alpn'),
  port,
  addresses(4, 'ipv4hint', 4, 'IPv4 addresses with commas between them'),
  ech,
  addresses(6, 'ipv6hint', 16, 'IPv6 addresses with commas between them'),
  dohpath,
  flag(8, 'ohttp'),
]
const byName = new Map(keys.map((key) => [key.name, key]))
const byCode = new Map(keys.map((key) => [key.code, key]))

/** Reserved. RFC 9460 section 14.3.2. */
const invalidCode = 65_535

/** @param keyMax keys above it print as `keyNNN`: older readers do not know their names */
export function parameterName(code: number, keyMax = invalidCode): string {
  return (code > keyMax ? undefined : byCode.get(code)?.name) ?? `key${code}`
}

function codeOf(name: string): number | undefined {
  const known = byName.get(name)
  if (known !== undefined) return known.code
  const digits = /^key(0|[1-9]\d{0,4})$/.exec(name)?.[1]
  return digits === undefined || Number(digits) >= invalidCode ? undefined : Number(digits)
}

/** Takes one token. A known key written as `keyNNNNN` gives its octets, which must be right. */
export function parseParameter(values: ValueReader): ServiceParameter | undefined {
  const token = values.takePlain('a parameter, key=value')
  if (token === undefined) return undefined
  const { text, column } = token
  const equals = text.indexOf('=')
  const name = equals === -1 ? text : text.slice(0, equals)
  const code = codeOf(name)
  if (code === undefined) {
    const known = keys.map((key) => key.name).join(', ')
    return values.fail(column, `a parameter: ${known}, or key0 to key65534`)
  }
  const written = equals === -1 ? '' : text.slice(equals + 1)
  const isQuoted = written.startsWith('"')
  const start = equals === -1 ? column + name.length : column + equals + 1 + (isQuoted ? 1 : 0)
  const read = readOctets(values, isQuoted ? written.slice(1, -1) : written, start)
  if (read === undefined) return undefined
  const value = byName.has(name)
    ? byName.get(name)!.parse(read, values, start)
    : octetsOfCode(code, read.octets, values, start)
  return value === undefined ? undefined : { code, value, column }
}

function octetsOfCode(
  code: number,
  octets: Uint8Array,
  values: ValueReader,
  column: number,
): Uint8Array | undefined {
  if (printParameter(code, octets) !== undefined) return octets
  return values.fail(column, `the octets of ${parameterName(code)} as they are on the wire`)
}

/** @returns undefined when the octets are not a value of this key */
export function printParameter(
  code: number,
  value: Uint8Array,
  keyMax = invalidCode,
): string | undefined {
  if (code === invalidCode) return undefined
  const name = parameterName(code, keyMax)
  const key = byCode.get(code)
  const text = key === undefined ? value : key.print(value, keyMax)
  if (text === undefined) return undefined
  if (text.length === 0) return name
  const isPlain = text.every((octet) => octet > 0x20 && octet < 0x7f && !needsQuotes.has(octet))
  return `${name}=${isPlain ? textOf(text) : printString(text)}`
}

/** Characters with a meaning in a zone file, and escapes, which readers undo at different times. */
const needsQuotes = new Set([...'"();\\'].map((sign) => sign.charCodeAt(0)))
