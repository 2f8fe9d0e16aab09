// The interface of a field of rdata, and the plain ones: numbers, names and addresses.
import { formatAddress, parseAddress } from '#dns/address.ts'
import { printName, readName } from './name-text.ts'
import type { OctetReader, OctetWriter } from './octets.ts'
import { secondsOf, ttlForm } from './ttl-text.ts'
import type { ValueReader } from './value-reader.ts'

/** What a program that reads printed rdata knows. */
export interface TextReader {
  /** Greatest key of SVCB parameters that it knows by name. */
  readonly keyMax: number
  /** It reads most signs in a name, such as an apostrophe, behind a backslash alone. */
  readonly needsBackslashes: boolean
  /** It reads no dot in the place of a gateway that an IPSECKEY record has not. */
  readonly refusesNoGateway?: boolean
}

export interface Field {
  /** Takes the field's tokens and writes its octets; a fault is kept in `values`. */
  readonly parse: (values: ValueReader, out: OctetWriter) => void
  /** Takes the field's octets and prints them; a fault is kept in `octets`. */
  readonly print: (
    octets: OctetReader,
    origin: Uint8Array | undefined,
    reader?: TextReader,
  ) => string
  /** Takes the same octets without printing; where it is missing, `print` is called. */
  readonly skip?: (octets: OctetReader) => void
}

/**
 * A whole number.
 *
 * @param says what it is, with its article: `a preference`
 * @param bytes 1, 2 or 4
 */
export function numberField(says: string, bytes: number): Field {
  return codeField(says, bytes, {})
}

/** A number that also has names. Printed as a number, which every reader understands. */
export function codeField(
  says: string,
  bytes: number,
  names: Readonly<Record<string, number>>,
): Field {
  const max = 256 ** bytes - 1
  const known = Object.keys(names)
  const form = `${says}, 0 to ${max}${known.length > 0 ? `, or ${known.join(', ')}` : ''}`
  return {
    parse: (values, out) => {
      const token = values.takePlain(form)
      if (token === undefined) return
      const { text, column } = token
      const name = known.find((other) => other === text.toUpperCase())
      const value = name === undefined ? wholeNumber(text) : names[name]
      if (value === undefined || value > max) return values.fail(column, form)
      out.number(value, bytes)
    },
    print: (octets) => String(octets.number(bytes)),
    skip: (octets) => void octets.number(bytes),
  }
}

export function wholeNumber(text: string): number | undefined {
  return /^\d{1,10}$/.test(text) ? Number(text) : undefined
}

/** Seconds in SOA rdata. */
export function secondsField(says: string): Field {
  const form = `${says}: ${ttlForm}, up to 4294967295`
  return {
    parse: (values, out) => {
      const token = values.takePlain(form)
      if (token === undefined) return
      const seconds = secondsOf(token.text)
      if (seconds === undefined || seconds > 0xffffffff) return values.fail(token.column, form)
      out.number(seconds, 4)
    },
    print: (octets) => String(octets.number(4)),
    skip: (octets) => void octets.number(4),
  }
}

export function nameField(says: string): Field {
  return {
    parse: (values, out) => {
      const token = values.takePlain(says)
      const wire = token && readName(values, token, says)
      if (wire !== undefined) out.octets(wire)
    },
    print: (octets, origin, reader) => printName(octets.name(), origin, reader?.needsBackslashes),
    skip: (octets) => void octets.name(),
  }
}

/** @param bytes 4 or 16 */
export function addressField(bytes: 4 | 16): Field {
  const form = bytes === 4 ? 'an IPv4 address (192.0.2.1)' : 'an IPv6 address (2001:db8::1)'
  return {
    parse: (values, out) => {
      const token = values.takePlain(form)
      if (token === undefined) return
      const address = parseAddress(token.text)
      if (!address.ok || address.value.length !== bytes) return values.fail(token.column, form)
      out.octets(address.value)
    },
    print: (octets) => {
      const address = octets.take(bytes)
      return octets.isBad ? '' : formatAddress(address)
    },
  }
}
