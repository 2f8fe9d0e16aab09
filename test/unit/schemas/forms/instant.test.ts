import fc from 'fast-check'
import { expect, test } from 'vitest'
import { readInstant } from '#schemas/forms/instant.ts'

test.each([
  ['2027-01-31T12:00:00Z', '2027-01-31T12:00:00.000Z'],
  ['2027-01-31t12:00:00z', '2027-01-31T12:00:00.000Z'],
  ['2027-01-31T12:00Z', '2027-01-31T12:00:00.000Z'],
  ['2027-01-31T12:00:00.5Z', '2027-01-31T12:00:00.500Z'],
  ['2027-01-31T12:00:00.123456789Z', '2027-01-31T12:00:00.123Z'],
  ['2027-01-31T00:30:00+02:00', '2027-01-30T22:30:00.000Z'],
  ['2027-01-31T23:30:00-05:30', '2027-02-01T05:00:00.000Z'],
  ['2028-02-29T00:00:00Z', '2028-02-29T00:00:00.000Z'],
  ['9999-12-31T23:59:59Z', '9999-12-31T23:59:59.000Z'],
  ['1970-01-01T00:00:00Z', '1970-01-01T00:00:00.000Z'],
])('%s is %s', (text, expected) => {
  expect(new Date(readInstant(text).atMs!).toISOString()).toBe(expected)
})

test.each(['2027-01-31', '2027-01-31T12:00', '2027-01-31T12:00:00', '2027-01-31T12:00:00.5'])(
  '%s lacks a zone',
  (text) => {
    expect(readInstant(text)).toEqual({ fault: 'no-zone' })
  },
)

test.each([
  '',
  'now',
  '1801396800000',
  '2027-02-29T00:00:00Z',
  '2027-02-30T00:00:00',
  '2027-13-01T00:00:00Z',
  '2027-00-10T00:00:00Z',
  '2027-01-31T24:00:00Z',
  '2027-01-31T12:60:00Z',
  '2027-06-30T23:59:60Z',
  '2027-01-31T12:00:00+24:00',
  '2027-01-31T12:00:00+02:60',
  '2027-01-31T12:00:00+2',
  '2027-01-31 12:00:00Z',
  '2027-01-31 12:00:00',
  '0099-01-01T00:00:00Z',
  '1969-12-31T23:59:59Z',
  '1970-01-01T00:00:00+00:01',
  '+012027-01-31T12:00:00Z',
  ' 2027-01-31T12:00:00Z',
])('"%s" is not an instant', (text) => {
  expect(readInstant(text)).toEqual({ fault: 'not-an-instant' })
})

test('any instant is read back as it was written, in any zone', () => {
  const lastMs = Date.UTC(9999, 11, 30)
  const instants = fc.integer({ min: 86_400_000, max: lastMs })
  const offsets = fc.integer({ min: -23 * 60, max: 23 * 60 })
  fc.assert(
    fc.property(instants, offsets, (atMs, minutes) => {
      const wall = new Date(atMs + minutes * 60_000).toISOString().slice(0, -1)
      const digits = (value: number): string => String(value).padStart(2, '0')
      const [hours, rest] = [Math.floor(Math.abs(minutes) / 60), Math.abs(minutes) % 60]
      const zone = `${minutes < 0 ? '-' : '+'}${digits(hours)}:${digits(rest)}`
      expect(readInstant(`${wall}${zone}`)).toEqual({ atMs })
    }),
  )
})

test('any other text costs a fault, never a throw', () => {
  fc.assert(
    fc.property(fc.string(), (text) => {
      const { atMs, fault } = readInstant(text)
      expect([atMs, fault].filter((part) => part !== undefined)).toHaveLength(1)
    }),
  )
})
