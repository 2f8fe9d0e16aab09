// Digests among the records of a transfer.
import { expect, test } from 'vitest'
import { RrType } from '#dns/rrtype.ts'
import { digestedRecords, zoneDigest } from '#zones/transfer/zone-digests.ts'
import type { ZoneRecord } from '#zones/transfer/zone-records.ts'
import { ZoneSource } from '#zones/transfer/zone-source.ts'
import { bundleOf } from '#test/support/bundle-models.ts'
import { modelOfWritten } from '#test/support/dns/written-zone.ts'

const digest = 'AB'.repeat(48)
const text = `$ORIGIN example.com.
@ 60 SOA ns root 1 2 3 4 5
@ 60 NS ns.example.net.
@ 60 ZONEMD 1 1 1 ${digest}
www 60 A 192.0.2.1
below 60 ZONEMD 1 1 1 ${digest}
`
const source = (serial: number): ZoneSource =>
  new ZoneSource(bundleOf(modelOfWritten({ name: 'example.com.', text })), undefined, serial)

const recordsOf = (from: ZoneSource, recordsMax?: number): ZoneRecord[] =>
  [...digestedRecords(from, 0, recordsMax)].filter((step) => step !== null)

const typesOf = (records: readonly ZoneRecord[]): number[] => records.map(({ type }) => type)
const digestsOf = (records: readonly ZoneRecord[]): string[] =>
  records
    .filter(({ type }) => type === RrType.ZONEMD)
    .map(({ rdata }) => Buffer.from(rdata).toString('hex'))

test('the first transfer ends with the digest, and the next ones begin with the same', () => {
  const from = source(7)
  const first = recordsOf(from)
  const next = recordsOf(from)
  expect(typesOf(first).slice(-2)).toEqual([RrType.ZONEMD, RrType.SOA])
  expect(typesOf(next).slice(0, 2)).toEqual([RrType.SOA, RrType.ZONEMD])
  expect(digestsOf(first).sort()).toEqual(digestsOf(next).sort())
})

test('one that was written at the apex is left out, one below is not', () => {
  const found = digestsOf(recordsOf(source(7)))
  expect(found.filter((hex) => hex.endsWith('ab'.repeat(48)))).toHaveLength(1)
  expect(found).toHaveLength(2)
})

test('each serial has its own', () => {
  const [one, other] = [7, 8].map((serial) => recordsOf(source(serial)))
  expect(digestsOf(one!)).not.toEqual(digestsOf(other!))
})

test('a zone of more records than are kept in memory has none', () => {
  const from = source(7)
  expect(digestsOf(recordsOf(from, 2))).toHaveLength(1)
  expect(from.digests.size).toBe(0)
  expect(digestsOf(recordsOf(from, 3))).toHaveLength(2)
})

/** Carries out all steps. */
function digestOf(from: ZoneSource, recordsMax?: number): string | undefined {
  const steps = zoneDigest(from, 0, recordsMax)
  for (let step = steps.next(); ; step = steps.next()) {
    if (step.done === true) return step.value && Buffer.from(step.value.rdata).toString('hex')
  }
}

test('alone it is the one of a transfer, made once, and none where there are too many', () => {
  const from = source(7)
  const made = digestOf(from)
  expect(digestsOf(recordsOf(from))).toContain(made)
  expect(digestOf(from)).toBe(made)
  const large = source(7)
  expect([digestOf(large, 2), digestOf(large, 3), [...large.undigested]]).toEqual([
    ...[undefined, undefined],
    [0],
  ])
  expect(digestOf(source(7), 3)).toBe(made)
})
