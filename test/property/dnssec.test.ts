// Names and records of DNSSEC: what holds for all of them.
import fc from 'fast-check'
import { expect, test } from 'vitest'
import { signingAlgorithms } from '#dns/dnssec/algorithms.ts'
import { writeNextName, writeTypeBits } from '#dns/dnssec/denial.ts'
import { bindKeyFiles, readBindKey, readPemKey } from '#dns/dnssec/key-files.ts'
import { generateZoneKey } from '#dns/dnssec/zone-key.ts'
import { foldName, labelOffsets } from '#dns/name.ts'
import { parseRdata, rdataTypeOf } from '#dns/rdata/rdata-types.ts'
import { anyText } from '#test/support/any-text.ts'
import { anyWireName } from '#test/support/dns/any-rdata.ts'
import { laneCount } from '#test/support/lane.ts'

const numRuns = laneCount(5_000, 300)

/** RFC 4034 section 6.1: labels from the root on, each as octets in lower case. */
function canonicalOrder(a: Uint8Array, b: Uint8Array): number {
  const labels = (name: Uint8Array): Uint8Array[] =>
    labelOffsets(name)
      .map((at) => name.subarray(at + 1, at + 1 + name[at]!))
      .reverse()
  const [ofA, ofB] = [labels(foldName(a)), labels(foldName(b))]
  for (const [i, label] of ofA.entries()) {
    const other = ofB[i]
    if (other === undefined) return 1
    const order = Buffer.compare(label, other)
    if (order !== 0) return order
  }
  return ofA.length - ofB.length
}

test('the next name is a name, and comes after the one before', () => {
  const octets = new Uint8Array(512)
  fc.assert(
    fc.property(anyWireName, (name) => {
      const end = writeNextName(octets, 0, name, 0)
      const next = octets.slice(0, end)
      expect(end).toBeLessThanOrEqual(255)
      expect(labelOffsets(next).every((at) => next[at]! <= 63)).toBe(true)
      expect(next.at(-1)).toBe(0)
      expect(end === 1 || canonicalOrder(next, name) > 0).toBe(true)
    }),
    { numRuns },
  )
})

test('the bits of types name these types, and no others', () => {
  const csync = rdataTypeOf(62)
  const octets = new Uint8Array(16_384)
  fc.assert(
    fc.property(fc.uniqueArray(fc.integer({ min: 1, max: 0xffff }), { maxLength: 60 }), (some) => {
      const types = some.toSorted((a, b) => a - b)
      const end = writeTypeBits(octets, 6, Uint16Array.from(types), types.length)
      const text = `0 0 ${types.map((type) => `TYPE${type}`).join(' ')}`.trimEnd()
      const parsed = parseRdata(csync, text)
      expect(parsed.ok && Buffer.from(parsed.value).equals(octets.subarray(0, end))).toBe(true)
    }),
    { numRuns },
  )
})

test('key files of any text are read or refused, never with an exception', () => {
  const key = generateZoneKey(signingAlgorithms[1]!)
  const { record, secret } = bindKeyFiles({ zone: Uint8Array.of(0), key }, 0)
  const words = fc.constantFrom(...`${record} ${secret}`.split(/(?<=\s)/), '\n', ' ', ': ')
  const text = fc.oneof(
    anyText({ maxLength: 200 }),
    fc.array(words, { maxLength: 40 }).map((all) => all.join('')),
  )
  fc.assert(
    fc.property(text, text, (one, other) => {
      for (const read of [readBindKey(one, other), readBindKey(record, one), readPemKey(one)]) {
        if (!read.ok) expect(read.error.length).toBeGreaterThan(10)
      }
    }),
    { numRuns },
  )
})
