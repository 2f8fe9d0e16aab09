// Geo databases that harm a careless reader, as octets; test/fuzz/corpus/mmdb keeps them.
import { control, pointer, writeMmdb } from '#test/support/mmdb-writer.ts'
import type { Field } from '#test/support/mmdb-writer.ts'

/** Named `<what it is>.<words of the error, with hyphens>`. */
export function hostileMmdbs(): { name: string; bytes: Buffer }[] {
  const good = writeMmdb({ networks: [['192.0.2.0/24', { country_code: 'DE' }]] })
  const markerAt = good.indexOf('MaxMind.com') - 3
  const withMetadata = (metadata: Record<string, Field | undefined>): Buffer =>
    writeMmdb({ networks: [['192.0.2.0/24', { country_code: 'DE' }]], metadata })
  const key = Buffer.concat([control(2, 14), Buffer.from('continent_code')])
  return [
    ['nothing.is-not-a-MaxMind-DB-file', Buffer.alloc(0)],
    ['gzip.is-not-a-MaxMind-DB-file', Buffer.from('1f8b0800000000000003', 'hex')],
    ['marker-only.has-broken-metadata', good.subarray(markerAt, markerAt + 14)],
    ['metadata-cut.ends-in-the-middle', good.subarray(0, -9)],
    ['tree-missing.is-shorter-than-the-search-tree', good.subarray(markerAt)],
    ['nodes-of-a-terabyte.is-shorter-than', withMetadata({ node_count: 4_294_967_295 })],
    ['nodes-one-too-few.does-not-fit-its-search-tree', withMetadata({ node_count: 119 })],
    ['format-of-the-future.has-format-version-3', withMetadata({ binary_format_major_version: 3 })],
    ['tree-points-to-its-root.goes-in-circles', circle()],
    ['tree-points-behind-the-file.points-out-of-the-data-section', farRecord()],
    ['record-is-a-text.a-record-that-is-not-a-map', replaceData(control(2, 0))],
    ['record-points-to-itself.pointer-to-a-pointer', replaceData(pointer(0))],
    [
      'map-in-itself.maps-inside-maps',
      replaceData(Buffer.concat([control(7, 1), key, pointer(0)])),
    ],
    ['map-of-millions.ends-in-the-middle', replaceData(control(7, 16_000_000))],
    [
      'text-of-megabytes.ends-in-the-middle',
      replaceData(Buffer.concat([control(7, 1), control(2, 16_000_000)])),
    ],
    ['lists-of-lists.go-on-without-end', replaceData(bomb(key))],
    ['other-data.wants-a-City-or-Country-database', replaceData(control(7, 0))],
  ].map(([name, bytes]) => ({ name: name as string, bytes: bytes as Buffer }))
}

/** One node whose records both point to the first octet of `data`. */
function replaceData(data: Buffer): Buffer {
  const whole = writeMmdb({ networks: [], ipVersion: 4 })
  const tree = Buffer.from('000011000011', 'hex')
  return Buffer.concat([tree, Buffer.alloc(16), data, whole.subarray(22)])
}

function circle(): Buffer {
  const bytes = writeMmdb({ networks: [['0.0.0.0/1', { country_code: 'DE' }]], ipVersion: 4 })
  // 24 bits of zero: the right record of node 0 is node 0.
  bytes.fill(0, 3, 6)
  return bytes
}

function farRecord(): Buffer {
  const bytes = writeMmdb({ networks: [['0.0.0.0/1', { country_code: 'DE' }]], ipVersion: 4 })
  return bytes.fill(0xff, 3, 6)
}

/** A record whose lists each hold the next one ten times, twenty deep. */
function bomb(key: Buffer): Buffer {
  const head = Buffer.concat([control(7, 1), key])
  const listBytes = control(11, 10).length + 10 * pointer(2_000).length
  const lists = Array.from({ length: 20 }, (_, i) => {
    const next = head.length + (i + 1) * listBytes
    return Buffer.concat([control(11, 10), ...Array<Buffer>(10).fill(pointer(next))])
  })
  return Buffer.concat([head, ...lists, control(6, 0)])
}
