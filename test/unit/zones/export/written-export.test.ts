// What an exported zone has of the records that were written at run time.
import { expect, test } from 'vitest'
import { adoptBundle } from '#bundle/load/load.ts'
import { formatName } from '#dns/name.ts'
import { rdataTypeOf } from '#dns/rdata/rdata-types.ts'
import { encodeWritten } from '#zones/dynamic/written-bundle.ts'
import { exportZone } from '#zones/export/zone-export.ts'
import { bundleOf } from '#test/support/bundle-models.ts'
import { modelOf } from '#test/support/dns/model.ts'
import { wireName } from '#test/support/dns/wire-name.ts'
import { txtRdata, writtenNames } from '#test/support/txt-records.ts'

const text = `@ 60 IN SOA ns root 1 2 3 4 5
@ 60 NS ns.example.net.
www 60 A 192.0.2.1
www 60 TXT "static"
c 60 CNAME www
cut 60 NS ns.example.net.
`

test('an export has them as they are answered, beside the records of the configuration', () => {
  const main = bundleOf(modelOf({ name: 'example.com.', text }))
  const record = (name: string, type: number, rdata: Uint8Array) => ({
    ...{ name: `${name}.example.com.`, type, rdata: Buffer.from(rdata), ttlSeconds: 30 },
  })
  const { handed } = encodeWritten(
    writtenNames([
      record('www', 1, Buffer.of(192, 0, 2, 9)),
      record('www', 16, txtRdata('new')),
      record('host', 1, Buffer.of(192, 0, 2, 20)),
      record('host', 49, Buffer.of(0, 2, 1, 99, 96)),
      record('alias', 5, wireName('host.example.com.')),
      record('c', 16, txtRdata('hidden')),
      record('x.cut', 1, Buffer.of(192, 0, 2, 21)),
    ]),
    main,
  )
  const written = adoptBundle(handed!.bytes, handed!.digest)
  const { records } = exportZone(main, 'example.com.', 7, written)!
  const lines = records.map(({ owner, ttl, type, rdata }) => {
    const { name, print } = rdataTypeOf(type)
    return `${formatName(owner)} ${ttl} ${name} ${print(rdata)}`
  })
  const shown = lines.filter((line) => !/ (?:SOA|NS) /.test(line))
  expect(shown.sort()).toEqual([
    'alias.example.com. 30 CNAME host.example.com.',
    'c.example.com. 60 CNAME www.example.com.',
    'host.example.com. 30 A 192.0.2.20',
    'host.example.com. 30 DHCID AAIBY2A=',
    'www.example.com. 30 TXT "new"',
    'www.example.com. 30 TXT "static"',
    'www.example.com. 60 A 192.0.2.1',
  ])
})
