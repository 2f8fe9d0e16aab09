// Tests transfers with TXT records that were written at run time.
import { expect, test } from 'vitest'
import { encodeBundle } from '#bundle/encode/encode.ts'
import { adoptBundle } from '#bundle/load/load.ts'
import { formatName } from '#dns/name.ts'
import { RrType, rrTypeNames } from '#dns/rrtype.ts'
import { encodeWritten } from '#zones/dynamic/written-bundle.ts'
import { zoneRecords } from '#zones/transfer/zone-records.ts'
import { ZoneSource } from '#zones/transfer/zone-source.ts'
import { modelOf } from '#test/support/dns/model.ts'
import { wireName } from '#test/support/dns/wire-name.ts'

const text = `
@ 60 IN SOA ns root 1 2 3 4 5
@ 60 NS ns.example.net.
both 60 TXT "static"
static 60 TXT "static"
alias 60 CNAME both
cut 60 NS ns.example.net.
away 60 DNAME example.net.
`
/** Names at which `dynamic` is written, with what a transfer shows there. */
const rows: readonly [string, readonly string[]][] = [
  ['both.example.com.', ['TXT 60 dynamic', 'TXT 60 static']],
  ['static.example.com.', ['TXT 60 static']],
  ['new.example.com.', ['TXT 120 dynamic']],
  ['a.b.new.example.com.', ['TXT 120 dynamic']],
  ['below.both.example.com.', ['TXT 120 dynamic']],
  ['example.com.', ['NS', 'SOA', 'SOA', 'TXT 120 dynamic']],
  ['alias.example.com.', ['CNAME']],
  ['cut.example.com.', ['NS']],
  ['x.cut.example.com.', []],
  ['x.y.cut.example.com.', []],
  ['away.example.com.', ['TXT 120 dynamic', 'TYPE39']],
  ['x.away.example.com.', []],
  ['other.example.org.', []],
]

const textOf = (string: string): Buffer =>
  Buffer.from(`${String.fromCharCode(string.length)}${string}`)

function transferred(): Map<string, string[]> {
  const { bytes, digest } = encodeBundle(modelOf({ name: 'example.com.', text }), () => -1)
  const main = adoptBundle(bytes, digest)
  const written = rows
    .filter(([name]) => !name.startsWith('static.'))
    .map(([name]) => ({
      name: wireName(name),
      rrsets: [{ type: 16, ttlSeconds: 120, values: [textOf('dynamic')] }],
    }))
  const { handed } = encodeWritten(written, main)
  const dynamic = adoptBundle(handed!.bytes, handed!.digest)
  const shown = new Map<string, string[]>()
  for (const record of zoneRecords(new ZoneSource(main, dynamic, 7), 0)) {
    if (record === null) continue
    const { owner, type, ttlSeconds, rdata } = record
    const data =
      type === RrType.TXT ? ` ${ttlSeconds} ${Buffer.from(rdata.subarray(1)).toString()}` : ''
    const name = formatName(owner)
    shown.set(
      name,
      [...(shown.get(name) ?? []), `${rrTypeNames[type] ?? `TYPE${type}`}${data}`].sort(),
    )
  }
  return shown
}

test.each(rows)('at %s: %j', (name, expected) => {
  expect(transferred().get(name) ?? []).toEqual(expected)
})

test('no other names are shown', () => {
  const names = rows.map(([name]) => name)
  expect([...transferred().keys()].filter((name) => !names.includes(name))).toEqual([])
})
