// Text fields: one character string, several, and text to the end of the rdata.
import type { Field } from './field.ts'
import { rdataBytesMax } from './octets.ts'
import type { OctetWriter } from './octets.ts'
import { printString, readString } from './string-text.ts'
import type { ValueReader } from './value-reader.ts'

const stringBytesMax = 255

/** The shape of the octets as Latin-1: an expression, or an object with `test`. */
type Shape = Pick<RegExp, 'test'>

export function stringField(says: string, shape?: Shape): Field {
  return {
    parse: (values, out) => parseString(values, out, says, shape),
    print: (octets) => {
      const string = octets.string()
      if (shape !== undefined && !shape.test(latin1(string))) octets.fail()
      return printString(string)
    },
  }
}

/** An optional last string. */
export function stringFieldOrNone(says: string): Field {
  const field = stringField(says)
  return {
    parse: (values, out) => {
      if (values.peek() !== undefined) field.parse(values, out)
    },
    print: (octets, origin) => (octets.left === 0 ? '' : field.print(octets, origin)),
  }
}

/** One or more. */
export function stringsField(says: string): Field {
  return {
    parse: (values, out) => {
      do {
        parseString(values, out, says)
      } while (values.peek() !== undefined && out.length <= rdataBytesMax)
    },
    print: (octets) => {
      const texts: string[] = []
      do texts.push(printString(octets.string()))
      while (octets.left > 0)
      return texts.join(' ')
    },
  }
}

function parseString(values: ValueReader, out: OctetWriter, says: string, shape?: Shape): void {
  const token = values.take(says)
  if (token !== undefined && isPlain(token.text)) {
    if (shape !== undefined && !shape.test(token.text)) return values.fail(token.column, says)
    out.number(token.text.length, 1)
    return out.ascii(token.text)
  }
  const read = token && readString(values, token)
  if (token === undefined || read === undefined) return
  const { octets, columns } = read
  if (octets.length > stringBytesMax) {
    const column = columns[stringBytesMax]!
    return values.fail(column, `${says} of at most ${stringBytesMax} octets; go on in another one`)
  }
  if (shape !== undefined && !shape.test(latin1(octets))) return values.fail(token.column, says)
  out.number(octets.length, 1)
  out.octets(octets)
}

const plain = /^[\x20\x21\x23-\x5b\x5d-\x7e]*$/

/** True for nearly all texts: no escapes, and short enough to be copied as it stands. */
function isPlain(text: string): boolean {
  return text.length <= stringBytesMax && plain.test(text)
}

/** Octets to the end of the rdata, without a length octet. */
export function restTextField(says: string, isEmptyRight: boolean): Field {
  return {
    parse: (values, out) => {
      const token = values.take(says)
      const read = token && readString(values, token)
      if (token === undefined || read === undefined) return
      if (read.octets.length === 0 && !isEmptyRight) return values.fail(token.column, says)
      out.octets(read.octets)
    },
    print: (octets) => {
      const rest = octets.rest()
      if (rest.length === 0 && !isEmptyRight) octets.fail()
      return printString(rest)
    },
  }
}

const latin1 = (octets: Uint8Array): string => Buffer.from(octets).toString('latin1')
