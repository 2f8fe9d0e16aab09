// Messages of protocol buffers: read as they were written; any octets are read or refused.
import fc from 'fast-check'
import { expect, test } from 'vitest'
import { FieldWriter, readFields } from '#lib/protobuf.ts'

const value = fc.oneof(
  fc.record({ number: fc.maxSafeNat() }),
  fc.record({ fixed32: fc.nat({ max: 2 ** 32 - 1 }) }),
  fc.record({ bytes: fc.uint8Array({ maxLength: 300 }) }),
)
const field = fc.oneof(fc.integer({ min: 1, max: 20 }), fc.integer({ min: 1, max: 2 ** 29 - 1 }))
const message = fc.array(fc.tuple(field, value), { maxLength: 30 })

type Value = typeof value extends fc.Arbitrary<infer T> ? T : never

function written(fields: readonly (readonly [number, Value])[], bytes = 100_000): FieldWriter {
  const writer = new FieldWriter(bytes)
  for (const [number, one] of fields) {
    if ('number' in one) writer.number(number, one.number)
    else if ('fixed32' in one) writer.fixed32(number, one.fixed32)
    else writer.bytes(number, one.bytes)
  }
  return writer
}

test('the last value of each field and kind is read as it was written', () => {
  fc.assert(
    fc.property(message, (fields) => {
      const expected = { numbers: new Map(), fixed32: new Map(), bytes: new Map() }
      for (const [number, one] of fields) {
        if ('number' in one) expected.numbers.set(number, one.number)
        else if ('fixed32' in one) expected.fixed32.set(number, one.fixed32)
        else expected.bytes.set(number, one.bytes)
      }
      const writer = written(fields)
      expect(writer.isFull).toBe(false)
      expect(readFields(Uint8Array.from(writer.octets))).toEqual(expected)
    }),
  )
})

test('a message that does not fit is reported, and the memory is never exceeded', () => {
  fc.assert(
    fc.property(message, fc.nat({ max: 200 }), (fields, bytes) => {
      const writer = written(fields, bytes)
      expect(writer.octets.length).toBeLessThanOrEqual(bytes)
      expect(writer.isFull).toBe(written(fields).octets.length > bytes)
    }),
  )
})

test('any octets are a message or none: nothing is read from outside of them', () => {
  fc.assert(
    fc.property(fc.uint8Array({ maxLength: 64 }), (octets) => {
      const fields = readFields(octets)
      if (fields === undefined) return
      for (const number of [...fields.numbers.values(), ...fields.fixed32.values()]) {
        expect(Number.isSafeInteger(number)).toBe(true)
      }
      const { length } = Buffer.concat([...fields.bytes.values()])
      expect(length).toBeLessThanOrEqual(octets.length)
    }),
    { numRuns: 1_000 },
  )
})

const hex = (text: string): Uint8Array => Buffer.from(text.replaceAll(' ', ''), 'hex')

test.each<[string, string, [number, number][]]>([
  ['2^53 - 1', '08 ffffffffffffff0f', [[1, 2 ** 53 - 1]]],
  ['2^53, which no number holds exactly with all below it', '08 8080808080808010', []],
  [
    'a negative one, of ten octets, behind it another field',
    '08 ffffffffffffffffff01 1007',
    [[2, 7]],
  ],
  ['one above 2^53 - 1 behind one that is not', '0805 08 ffffffffffffffffff01', []],
  ['one that is not behind one above 2^53 - 1', '08 ffffffffffffffffff01 0805', [[1, 5]]],
  ['64 and 32 bits under the same field', '0805 09 0000000000000000 0d 01000000', [[1, 5]]],
])('a varint: %s', (_what, octets, numbers) => {
  expect([...readFields(hex(octets))!.numbers]).toEqual(numbers)
})

test.each([
  ['a tag without a value', '08'],
  ['a varint of eleven octets', '08 ffffffffffffffffffff01'],
  ['a varint that does not end', '08 ff'],
  ['the field 0', '0005'],
  ['a field above 2^29 - 1', '8080808010 05'],
  ['a tag above 2^53 - 1', 'ffffffffffffffffff01 05'],
  ['a length above 2^53 - 1', '0a ffffffffffffffffff01 00'],
  ['a length beyond the end', '0a 02 00'],
  ['32 bits cut short', '0d 0000'],
  ['64 bits cut short', '09 00000000'],
  ['a group, which nobody writes any more', '0b 0c'],
])('%s is no message', (_what, octets) => {
  expect(readFields(hex(octets))).toBeUndefined()
})
