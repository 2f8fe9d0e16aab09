// Fields that run to the end of the rdata in any number of tokens: hex, digests and base64.
import type { Field } from './field.ts'
import type { Token } from './tokens.ts'
import type { ValueReader } from './value-reader.ts'

/** Takes all tokens that are left, at least one. */
function restOf(values: ValueReader, says: string, wrong: RegExp): Token[] | undefined {
  const tokens: Token[] = []
  do {
    const token = values.takePlain(says)
    if (token === undefined) return undefined
    const at = token.text.search(wrong)
    if (at !== -1) return values.fail(token.column + at, says)
    tokens.push(token)
  } while (values.peek() !== undefined)
  return tokens
}

const joined = (tokens: readonly Token[]): string => tokens.map(({ text }) => text).join('')

/** @param says what the octets are: `hex digits of …` */
export function hexField(says: string): Field {
  return digestField(says, {})
}

/**
 * Hex digits. The octet before them gives their count, where its value is known.
 *
 * @param lengths octets of the digest by the value of that octet
 */
export function digestField(says: string, lengths: Readonly<Record<number, number>>): Field {
  return {
    parse: (values, out) => {
      const tokens = restOf(values, says, /[^0-9a-fA-F]/)
      if (tokens === undefined) return
      const digits = joined(tokens)
      const { column } = tokens[0]!
      if (digits.length % 2 !== 0) return values.fail(column, `${says}, two for each octet`)
      const wanted = lengths[out.last ?? -1]
      if (wanted !== undefined && digits.length !== wanted * 2) {
        return values.fail(column, `${says}: ${wanted * 2} for this kind of digest`)
      }
      out.octets(Buffer.from(digits, 'hex'))
    },
    print: (octets) => {
      const wanted = lengths[octets.last ?? -1]
      const rest = octets.rest()
      if (rest.length === 0 || (wanted !== undefined && rest.length !== wanted)) octets.fail()
      return Buffer.from(rest).toString('hex').toUpperCase()
    },
  }
}

export function base64Field(says: string): Field {
  return {
    parse: (values, out) => {
      const tokens = restOf(values, says, /[^0-9a-zA-Z+/=]/)
      if (tokens === undefined) return
      const octets = base64Octets(joined(tokens))
      if (octets === undefined) return values.fail(tokens[0]!.column, `${says}: ${base64Form}`)
      out.octets(octets)
    },
    print: (octets) => {
      const rest = octets.rest()
      if (rest.length === 0) octets.fail()
      return Buffer.from(rest).toString('base64')
    },
  }
}

/**
 * A base64 field that is absent in some rdata.
 *
 * @param hasNone decides by the first two octets of the rdata
 */
export function base64FieldUnless(hasNone: (leading16: number) => boolean, says: string): Field {
  const field = base64Field(says)
  return {
    parse: (values, out) => {
      if (!hasNone(out.leading16)) field.parse(values, out)
    },
    print: (octets, origin) => (hasNone(octets.leading16 ?? 0) ? '' : field.print(octets, origin)),
  }
}

export const base64Form = 'groups of four characters, the last one padded with ='

/** @returns undefined when the text is empty or not the canonical base64 of its octets */
export function base64Octets(text: string): Uint8Array | undefined {
  const octets = Buffer.from(text, 'base64')
  return octets.length > 0 && octets.toString('base64') === text ? octets : undefined
}
