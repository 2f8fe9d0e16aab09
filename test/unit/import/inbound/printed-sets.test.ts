// How records that came are grouped: within the limits of a record set, and looked at once.
import { describe, expect, test } from 'vitest'
import { RrType } from '#dns/rrtype.ts'
import type { ZoneRecord } from '#dns/zone-file/zone-record.ts'
import { groupedZone } from '#import/inbound/printed-sets.ts'
import { bundleLimits } from '#bundle/format/limits.ts'
import { valuesPerRrsetMax } from '#schemas/objects/records.ts'
import { finished } from '#test/support/finished.ts'
import { wireName } from '#test/support/dns/wire-name.ts'

const zone = wireName('example.com.')
const owner = wireName('big.example.com.')

/** Octets that count how often they are brought into canonical form. */
class CountedOctets extends Uint8Array<ArrayBuffer> {
  static copies = 0
  static get [Symbol.species](): typeof Uint8Array {
    return Uint8Array
  }
  override slice(start?: number, end?: number): Uint8Array<ArrayBuffer> {
    CountedOctets.copies++
    return super.slice(start, end)
  }
}

function mx(i: number, name = 'mail.example.com.'): ZoneRecord {
  const octets = Uint8Array.of(i >> 8, i & 0xff, ...wireName(name))
  return { owner, ttl: 300, type: RrType.MX, rdata: new CountedOctets(octets.buffer) }
}

test('each record of a large set is brought into canonical form once', () => {
  CountedOctets.copies = 0
  const records = Array.from({ length: 1_500 }, (_, i) => mx(i))
  const grouped = finished(groupedZone([...records, mx(7, 'MAIL.example.com.')], zone))
  if (!grouped.ok) throw new Error(grouped.error)
  const [set] = grouped.value.sets.values()
  expect(set!.rdata).toHaveLength(1_500)
  expect(CountedOctets.copies).toBeLessThanOrEqual(1_501)
})

const address = (i: number): ZoneRecord => {
  const rdata = Uint8Array.of(10, i >> 16, (i >> 8) & 0xff, i & 0xff)
  return { owner, ttl: 300, type: RrType.A, rdata }
}
const text = (i: number): ZoneRecord => {
  const rdata = new Uint8Array(201).fill(97)
  rdata[0] = 200
  new DataView(rdata.buffer).setUint32(1, i)
  return { owner, ttl: 300, type: RrType.TXT, rdata }
}

describe('a set that is too large is refused by its name, and nothing is read after it', () => {
  const rows: readonly [string, (i: number) => ZoneRecord, number, string][] = [
    ['records', address, bundleLimits.rrsetBytesMax / 16 + 1, 'big A: a record set has at most'],
    ['octets', text, Math.ceil(bundleLimits.rrsetBytesMax / 213) + 1, 'big TXT: a record set has'],
  ]
  test.each(rows)('%s', (_, record, most, message) => {
    let read = 0
    function* endless(): Generator<ZoneRecord> {
      for (; ; read++) yield record(read)
    }
    const grouped = finished(groupedZone(endless(), zone))
    expect(grouped).toMatchObject({ ok: false, error: expect.stringContaining(message) as string })
    expect(read).toBeLessThanOrEqual(Math.min(most, valuesPerRrsetMax + 1))
  })
})

test.each([
  ['example.com.', true],
  ['key.example.com.', false],
])('a DNSKEY record at %s makes the zone a signed one: %s', (name, isSigned) => {
  const rdata = Uint8Array.of(1, 1, 3, 13, ...new Uint8Array(64))
  const key = { owner: wireName(name), ttl: 300, type: RrType.DNSKEY, rdata }
  expect(finished(groupedZone([key], zone))).toMatchObject({ ok: true, value: { isSigned } })
})
