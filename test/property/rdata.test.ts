// Rdata and zone files: what holds for all of them.
import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { canonicalRdata, parseRdata, rdataTypeOf, rdataTypes } from '#dns/rdata/rdata-types.ts'
import { parseZoneFile } from '#dns/zone-file/zone-file.ts'
import type { ZoneRecord } from '#dns/zone-file/zone-record.ts'
import { zoneLines } from '#dns/zone-file/zone-writer.ts'
import { anyRdata, anyWireName } from '#test/support/dns/any-rdata.ts'
import { laneCount } from '#test/support/lane.ts'
import { anyText } from '#test/support/any-text.ts'

const numRuns = laneCount(2_000, 100)
const origin = Buffer.from('\x07example\x03com\0', 'latin1')
const sameOctets = (a: Uint8Array, b: Uint8Array): boolean => Buffer.from(a).equals(b)

describe.each(rdataTypes)('$name', (type) => {
  const rdata = anyRdata(type.code)

  test('comes back from its printed form, octet by octet', () => {
    fc.assert(
      fc.property(rdata, fc.boolean(), (octets, isRelative) => {
        const base = isRelative ? origin : undefined
        const text = type.print(octets, base)
        expect(text.startsWith('\\#')).toBe(false)
        const parsed = parseRdata(type, text, base)
        expect(parsed.ok && sameOctets(parsed.value, octets)).toBe(true)
      }),
      { numRuns },
    )
  })

  test('is as long in its canonical form, and that is its own', () => {
    fc.assert(
      fc.property(rdata, (octets) => {
        const canonical = canonicalRdata(type, octets)
        expect(canonical).toHaveLength(octets.length)
        expect(sameOctets(canonicalRdata(type, canonical), canonical)).toBe(true)
      }),
      { numRuns },
    )
  })

  test('is never read with an exception, whatever the text or the octets', () => {
    const words = fc.constantFrom(
      ...'0 1 10 a. @ . "x" \\# \\ " = , ; ( N m port= key1= alpn="'.split(' '),
    )
    const text = fc.oneof(
      anyText({ maxLength: 60 }),
      fc.array(words, { maxLength: 12 }).map((all) => all.join(' ')),
      fc.array(words, { maxLength: 8 }).map((all) => all.join('')),
    )
    fc.assert(
      fc.property(text, fc.uint8Array({ maxLength: 60 }), (written, octets) => {
        const parsed = parseRdata(type, written, origin)
        if (!parsed.ok) {
          expect(parsed.error.column).toBeGreaterThan(0)
          expect(parsed.error.column).toBeLessThanOrEqual(written.length + 1)
        } else {
          const again = parseRdata(type, type.print(parsed.value))
          expect(again.ok && sameOctets(again.value, parsed.value)).toBe(true)
        }
        type.print(octets, origin)
        canonicalRdata(type, octets)
      }),
      { numRuns },
    )
  })
})

describe('a zone', () => {
  const record: fc.Arbitrary<ZoneRecord> = fc
    .tuple(
      anyWireName,
      fc.integer({ min: 0, max: 2 ** 31 - 1 }),
      fc.constantFrom(...rdataTypes.map(({ code }) => code), 65_280),
    )
    .chain(([owner, ttl, type]) => anyRdata(type).map((rdata) => ({ owner, ttl, type, rdata })))
  const keyOf = ({ owner, type, rdata }: ZoneRecord): string =>
    [owner, canonicalRdata(rdataTypeOf(type), rdata)]
      .map((octets) => Buffer.from(octets).toString('latin1').toLowerCase())
      .concat(String(type))
      .join('|')

  test('comes back from its printed file, with relative and with absolute names', () => {
    fc.assert(
      fc.property(
        fc.uniqueArray(record, { maxLength: 20, selector: keyOf }),
        fc.constantFrom('relative' as const, 'absolute' as const),
        (records, names) => {
          const text = [...zoneLines(records, { origin, names })].join('')
          const parsed = parseZoneFile({ path: 'zone', octets: Buffer.from(text) })
          expect(parsed.faults).toEqual([])
          const shown = ({ owner, ttl, type, rdata }: ZoneRecord): string =>
            [
              ttl,
              type,
              Buffer.from(owner).toString('hex'),
              Buffer.from(rdata).toString('hex'),
            ].join(' ')
          expect([...parsed.records].map(shown).sort()).toEqual(records.map(shown).sort())
        },
      ),
      { numRuns },
    )
  })

  test('file of any text has records or faults, each fault inside the text', () => {
    const words = fc.constantFrom(
      ...[
        '$ORIGIN',
        '$TTL',
        '$INCLUDE',
        '$GENERATE',
        '1-9',
        'a$',
        '${1,2,x}',
        '@',
        'x.',
        ' ',
        '\t',
        '\n',
        '\r\n',
      ],
      ...['IN', 'A', 'TXT', '1h', '300', '192.0.2.1', '"', '\\', ';', '(', ')', 'é', '\0'],
    )
    const text = fc.oneof(
      fc.array(words, { maxLength: 40 }).map((all) => all.join(' ')),
      fc.array(words, { maxLength: 40 }).map((all) => all.join('')),
    )
    fc.assert(
      fc.property(
        fc.oneof(
          text.map((all) => Buffer.from(all)),
          fc.uint8Array(),
        ),
        (octets) => {
          const { faults } = parseZoneFile({ path: 'zone', octets }, { origin })
          const lines = Buffer.from(octets)
            .toString('latin1')
            .split(/\r\n|\n|\r/).length
          for (const { line, column } of faults) {
            expect(line).toBeGreaterThan(0)
            expect(line).toBeLessThanOrEqual(lines)
            expect(column).toBeGreaterThan(0)
          }
        },
      ),
      { numRuns: numRuns * 5 },
    )
  })
})
