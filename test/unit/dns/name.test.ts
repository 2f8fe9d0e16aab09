import { describe, expect, test } from 'vitest'
import { foldName, formatName, labelOffsets, parseName } from '#dns/name.ts'
import type { NameError } from '#dns/name.ts'

const wireOf = (text: string): Buffer => {
  const name = parseName(text)
  if (!name.ok) throw new Error(name.error)
  return Buffer.from(name.value)
}
const longLabel = 'a'.repeat(63)
/** 3 × 64, then a label that fills the rest; RFC 1035 section 2.3.4. */
const nameOf = (wireBytes: number): string =>
  [longLabel, longLabel, longLabel, 'b'.repeat(wireBytes - 3 * 64 - 2)].join('.') + '.'

describe('a name is read', () => {
  const rows: readonly [title: string, text: string, wire: string][] = [
    ['as labels with their lengths', 'www.example.', '\x03www\x07example\0'],
    ['with its final dot missing', 'www.example', '\x03www\x07example\0'],
    ['when it is the root', '.', '\0'],
    ['in the case it is written in', 'WwW.', '\x03WwW\0'],
    ['with a dot inside a label', 'a\\.b.c.', '\x03a.b\x01c\0'],
    ['with a backslash inside a label', 'a\\\\b.', '\x03a\\b\0'],
    ['with an octet as three digits', 'a\\000\\255.', '\x03a\0\xff\0'],
    ['with an escape that needs none', '\\*.x.', '\x01*\x01x\0'],
    ['with an escape as its last label', 'a.\\.', '\x01a\x01.\0'],
    ['with a label of 63 octets', `${longLabel}.`, `\x3f${longLabel}\0`],
  ]
  test.each(rows)('%s', (_title, text, wire) => {
    expect(wireOf(text).toString('latin1')).toBe(wire)
  })

  test('up to 255 octets, with and without the final dot', () => {
    expect(wireOf(nameOf(255))).toHaveLength(255)
    expect(wireOf(nameOf(255).slice(0, -1))).toHaveLength(255)
  })

  test('up to 127 labels', () => {
    expect(labelOffsets(wireOf('a.'.repeat(127)))).toHaveLength(127)
  })
})

describe('a name is refused', () => {
  const rows: readonly [title: string, text: string, error: NameError][] = [
    ['when it is empty', '', 'empty'],
    ['with an empty label', 'a..b.', 'label-empty'],
    ['with a dot in front', '.a.', 'label-empty'],
    ['with two dots at the end', 'a..', 'label-empty'],
    ['as two dots', '..', 'label-empty'],
    ['with a label of 64 octets', `${longLabel}a.`, 'label-too-long'],
    ['with 256 octets', nameOf(256), 'name-too-long'],
    ['with 256 octets and no final dot', nameOf(256).slice(0, -1), 'name-too-long'],
    ['with 128 labels', 'a.'.repeat(128), 'name-too-long'],
    ['with a backslash at the end', 'a\\', 'bad-escape'],
    ['with two digits after a backslash', 'a\\12.', 'bad-escape'],
    ['with an octet above 255', 'a\\256.', 'bad-escape'],
    ['with a letter beyond ASCII', 'ü.', 'not-ascii'],
    ['with a character beyond the basic plane', '\u{1f600}.', 'not-ascii'],
    ['with DEL', '\x7f.', 'not-ascii'],
  ]
  test.each(rows)('%s', (_title, text, error) => {
    expect(parseName(text)).toEqual({ ok: false, error })
  })

  test('in bounded time, however long it is', () => {
    expect(parseName('a'.repeat(50_000_000)).ok).toBe(false)
    expect(parseName('a.'.repeat(25_000_000)).ok).toBe(false)
  })
})

describe('a name is printed', () => {
  const rows: readonly [wire: string, text: string][] = [
    ['\0', '.'],
    ['\x03www\x07example\0', 'www.example.'],
    ['\x03a.b\0', 'a\\.b.'],
    ['\x03a\\b\0', 'a\\\\b.'],
    ['\x04a\0\xff \0', 'a\\000\\255\\032.'],
    ['\x01*\x01x\0', '*.x.'],
  ]
  test.each(rows)('%j as %s', (wire, text) => {
    expect(formatName(Buffer.from(wire, 'latin1'))).toBe(text)
  })

  test('from an offset in a longer run', () => {
    expect(formatName(Buffer.from('..\x01a\0..', 'latin1'), 2)).toBe('a.')
  })

  test.each([
    ['no octets', '', 0],
    ['an offset past the end', '\x01a\0', 3],
    ['an offset within a label', '\x02ab\0', 1],
    ['no end', '\x01a', 0],
    ['an odd label without an end', '\x01 ', 0],
  ])('%s is a fault of the caller, said at once', (_, wire, offset) => {
    expect(() => formatName(Buffer.from(wire, 'latin1'), offset)).toThrow(/ends within the octets/)
  })
})

test('only A to Z are folded, and length octets are not', () => {
  const label = Uint8Array.from({ length: 63 }, (_, i) => 0x40 + i)
  const folded = foldName(Uint8Array.from([63, ...label, 0]))
  const expected = [...label].map((octet) => (octet > 0x40 && octet < 0x5b ? octet + 32 : octet))
  expect([...folded]).toEqual([63, ...expected, 0])
  expect([...foldName(Uint8Array.from([0xc0, 0xc9, 0xff]))]).toEqual([0xc0, 0xc9, 0xff])
})
