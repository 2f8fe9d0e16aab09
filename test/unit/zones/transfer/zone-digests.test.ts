// Digests among the records of a transfer.
import { expect, test } from 'vitest'
import { RrType } from '#dns/rrtype.ts'
import { digestedRecords } from '#zones/transfer/zone-digests.ts'
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
