// Compact denial: next names and bits of types, by the rows that RFC 4034 and RFC 9824 give.
import { describe, expect, test } from 'vitest'
import { nsecBytesMax, writeNextName, writeNsec, writeTypeBits } from '#dns/dnssec/denial.ts'
import { formatName } from '#dns/name.ts'
import { typeNumber } from '#test/support/dns/codes.ts'
import { wireName } from '#test/support/dns/wire-name.ts'

const memory = new Uint8Array(1_024).fill(0xee)

function next(name: Uint8Array): Buffer {
  const end = writeNextName(memory, 3, Buffer.concat([Buffer.of(9), name]), 1)
  return Buffer.from(memory.subarray(3, end))
}

function bits(types: readonly number[]): string {
  const end = writeTypeBits(memory, 5, Uint16Array.from([...types, 0xffff]), types.length)
  return Buffer.from(memory.subarray(5, end)).toString('hex')
}

/** The whole name with its root label has so many octets. */
function longName(bytes: number, last: string): Uint8Array {
  const label = 'a'.repeat(49)
  const tail = `${label}.`.repeat(4)
  const rest = bytes - 1 - 200 - 1
  return wireName(`${'b'.repeat(rest - 1)}${last}.${tail}`)
}

describe('the next name', () => {
  test.each([
    ['www.example.org.', '\\000.www.example.org.'],
    ['WWW.Example.org.', '\\000.www.example.org.'],
    ['.', '\\000.'],
    ['*.example.org.', '\\000.*.example.org.'],
  ])('after %s is %s', (name, other) => {
    expect(formatName(next(wireName(name)))).toBe(other)
  })

  test.each([
    [253, 'x', 255, /^\\000\.b+x\.a/],
    [254, 'x', 255, /^b+x\\000\.a/],
    [255, 'x', 255, /^b+y\.a/],
    [255, '@', 255, /^b+\[\.a/],
    [255, '\\255', 254, /^b*c\.a/],
  ])('of %i octets that end with %s', (bytes, last, nextBytes, shape) => {
    const name = longName(bytes, last)
    expect(name).toHaveLength(bytes)
    expect(next(name)).toHaveLength(nextBytes)
    expect(formatName(next(name))).toMatch(shape)
  })

  test('leaves a label that can be no greater', () => {
    const [full, other] = ['\\255'.repeat(63), 'a'.repeat(61)]
    const name = wireName(`${full}.${full}.${full}.${other}.`)
    expect(name).toHaveLength(255)
    expect(formatName(next(name))).toBe(`${'a'.repeat(60)}b.`)
  })

  test('after the last name of all is the first one', () => {
    const full = '\\255'.repeat(63)
    const name = wireName(`${full}.${full}.${full}.${'\\255'.repeat(61)}.`)
    expect(formatName(next(name))).toBe('.')
  })
})

test.each([
  [[], ''],
  [['NXNAME'], '001100000000000000000000000000000000' + '80'],
  // RFC 4034 section 4.3.
  [['A', 'MX', 'RRSIG', 'NSEC', 1_234], '000640010000000304' + '1b' + '00'.repeat(26) + '20'],
  [['A', 'CAA'], '000140010140'],
])('the bits of %o', (types, hex) => {
  const codes = types.map((type) => (typeof type === 'number' ? type : typeNumber(type)))
  expect(bits(codes)).toBe(hex)
})

test('a whole record, and its bound', () => {
  const types = Uint16Array.from({ length: 256 }, (_, i) => i * 256 + 255)
  const name = longName(253, 'x')
  const end = writeNsec(memory, 0, wireName('a.'), 0, Uint16Array.of(1), 1)
  expect(Buffer.from(memory.subarray(0, end)).toString('hex')).toBe('01000161000001' + '40')
  const large = new Uint8Array(nsecBytesMax(256))
  expect(writeNsec(large, 0, name, 0, types, 256)).toBe(large.length)
})
