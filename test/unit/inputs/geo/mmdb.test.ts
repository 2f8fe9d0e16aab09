// MaxMind DB files read whole: every form of data, and every way to be broken.
import { Reader } from 'mmdb-lib'
import { describe, expect, test } from 'vitest'
import { Random } from '#lib/random.ts'
import { geoLimits } from '#inputs/geo/limits.ts'
import { MmdbData } from '#inputs/geo/mmdb-data.ts'
import { MmdbWalk } from '#inputs/geo/mmdb-tree.ts'
import { openMmdb } from '#inputs/geo/mmdb.ts'
import { DataWriter, control, pointer, writeMmdb } from '#test/support/mmdb-writer.ts'
import type { Field, MmdbPlan } from '#test/support/mmdb-writer.ts'

const plan: MmdbPlan = { networks: [['192.0.2.0/24', { country_code: 'DE' }]] }

/** Maps as plain objects, as the other reader gives them. */
function plain(value: unknown): unknown {
  if (value instanceof Map) {
    return Object.fromEntries([...value].map(([key, below]) => [key as string, plain(below)]))
  }
  return Array.isArray(value) ? value.map(plain) : value
}

/** All networks with their records; IPv4 as one number. */
function readAll(bytes: Buffer): { start: number; end: number; record: unknown }[] {
  const database = openMmdb(bytes)
  if (!database.ok) throw new Error(database.error)
  const { tree, data } = database.value
  const found: { start: number; end: number; record: unknown }[] = []
  const walk = new MmdbWalk(tree, {
    network4(start, end, offset) {
      found.push({ start, end, record: plain(data.read(offset, 'all')) })
      return true
    },
    network6: () => true,
  })
  walk.run()
  expect([walk.fault, data.fault]).toEqual([undefined, undefined])
  return found
}

function faultOf(bytes: Buffer): string | undefined {
  const database = openMmdb(bytes)
  if (!database.ok) return database.error
  const { tree, data } = database.value
  const take = (_start: unknown, _end: unknown, offset: number): boolean =>
    data.read(offset, 'all') !== undefined
  const walk = new MmdbWalk(tree, { network4: take, network6: take })
  walk.run()
  return walk.fault ?? data.fault
}

describe('a MaxMind DB file', () => {
  const nested: Field = {
    text: 'x'.repeat(300),
    long: 'y'.repeat(70_000),
    empty: '',
    number: 4_294_967_295,
    zero: 0,
    big: 18_446_744_073_709_551_615n,
    half: 0.5,
    below: -12.25,
    yes: true,
    no: false,
    names: { en: 'Germany', de: 'Deutschland', 'zh-CN': '德国' },
    list: [1, 'two', { three: 3 }, []],
    again: { names: { en: 'Germany', de: 'Deutschland', 'zh-CN': '德国' } },
  }

  test.each([
    [24, true],
    [28, true],
    [32, true],
    [28, false],
  ] as const)('with records of %i bits, pointers %s, is read whole', (recordSize, pointers) => {
    const networks = [
      ['192.0.2.0/24', nested],
      ['198.51.100.128/25', { ...nested, number: 7 }],
    ] as const
    const bytes = writeMmdb({ networks, recordSize, pointers })
    const found = readAll(bytes)
    expect(found.map(({ start, end }) => [start, end])).toEqual([
      [0xc000_0200, 0xc000_02ff],
      [0xc633_6480, 0xc633_64ff],
    ])
    expect(found.map(({ record }) => record)).toEqual(networks.map(([, record]) => record))
    const oracle = new Reader<never>(bytes)
    expect(plain(oracle.get('192.0.2.1'))).toEqual(nested)
  })

  test('says what it is', () => {
    const opened = openMmdb(writeMmdb({ ...plan, type: 'GeoLite2-City', buildEpoch: 1_234 }))
    expect(opened.ok && [opened.value.type, opened.value.buildEpoch]).toEqual([
      'GeoLite2-City',
      1_234,
    ])
  })

  test('of random networks gives each address the record that another reader finds', () => {
    for (const [seed, recordSize] of [
      [1, 24],
      [2, 28],
      [3, 32],
    ] as const) {
      const random = new Random(seed)
      const networks = Array.from({ length: 300 }, (_, i) => {
        const prefixBits = 4 + random.below(29)
        const address = (random.next() & (-1 << (32 - prefixBits))) >>> 0
        const text = [24, 16, 8, 0].map((shift) => (address >>> shift) & 255).join('.')
        return [`${text}/${prefixBits}`, { id: i }] as const
      })
      const bytes = writeMmdb({ networks, recordSize, aliases: true })
      const oracle = new Reader<never>(bytes)
      const found = readAll(bytes)
      for (const { start, end, record } of found) {
        for (const address of [start, end]) {
          const text = [24, 16, 8, 0].map((shift) => (address >>> shift) & 255).join('.')
          expect(oracle.get(text), text).toEqual(record)
        }
      }
      const covered = found.reduce((sum, { start, end }) => sum + end - start + 1, 0)
      expect(covered).toBeGreaterThan(0)
    }
  })
})

describe('a broken file is refused:', () => {
  const good = writeMmdb(plan)

  test.each<[string, Buffer, string]>([
    ['an empty one', Buffer.alloc(0), 'is not a MaxMind DB file'],
    ['one of text', Buffer.from('<html>404</html>'), 'is not a MaxMind DB file'],
    ['one without its end', good.subarray(0, good.length - 200), 'its end is missing'],
    ['one without its beginning', good.subarray(600), 'is shorter than the search tree'],
    ['metadata cut', good.subarray(0, good.length - 3), 'broken metadata: it ends in the middle'],
    [
      'metadata that is a text',
      Buffer.concat([good.subarray(0, good.indexOf('MaxMind.com') + 11), Buffer.from('\x41a')]),
      'metadata that is not a map',
    ],
  ])('%s', (_title, bytes, sentence) => {
    expect(faultOf(bytes)).toContain(sentence)
  })

  test.each<[string, Record<string, Field | undefined>, string]>([
    ['another version', { binary_format_major_version: 3 }, 'has format version 3; gslbd reads'],
    ['no version', { binary_format_major_version: undefined }, 'format version unknown'],
    ['a record size of 25', { record_size: 25 }, 'record_size'],
    ['an IP version of 5', { ip_version: 5 }, 'ip_version'],
    ['no nodes', { node_count: 0 }, 'node_count'],
    ['a count that is a text', { node_count: 'many' }, 'node_count'],
    ['too many nodes', { node_count: 4_000_000_000 }, 'shorter than the search tree'],
    ['no type', { database_type: 7 }, 'database_type'],
    ['an IPv6 tree that claims IPv4', { ip_version: 4 }, 'deeper than an address'],
    ['too few nodes', { node_count: 100 }, 'does not fit its search tree'],
  ])('metadata of %s', (_title, metadata, sentence) => {
    expect(faultOf(writeMmdb({ ...plan, metadata }))).toContain(sentence)
  })

  test('a tree that goes in circles', () => {
    const bytes = writeMmdb({ networks: [['::/1', { a: 1 }]] })
    bytes.fill(0, 3, 6)
    expect(faultOf(bytes)).toContain('in circles')
  })

  test('a tree that points behind the data', () => {
    const bytes = writeMmdb({ networks: [['::/1', { a: 1 }]] })
    bytes.writeUIntBE(1_000_000, 0, 3)
    expect(faultOf(bytes)).toContain('points out of the data section')
  })
})

describe('a record that does harm is refused:', () => {
  const map = (...parts: Buffer[]): Buffer => Buffer.concat([control(7, parts.length), ...parts])
  const entry = (value: Buffer): Buffer => Buffer.concat([control(2, 1), Buffer.from('k'), value])
  const bomb = (): Buffer => {
    // Each list holds the one before it ten times: 10^20 values in a few hundred octets.
    const parts = [control(6, 0)]
    let [last, length] = [0, parts[0]!.length]
    for (let i = 0; i < 20; i++) {
      const list = [control(11, 10), ...Array<Buffer>(10).fill(pointer(last))]
      last = length
      parts.push(...list)
      length += list.reduce((sum, { length: octets }) => sum + octets, 0)
    }
    return Buffer.concat([...parts, pointer(last)])
  }

  test.each<[string, Buffer, number, string]>([
    ['a pointer to itself', pointer(0), 0, 'pointer to a pointer'],
    ['a map in itself', map(entry(pointer(0))), 0, 'maps inside maps without end'],
    ['a pointer out of the section', pointer(5_000), 0, 'pointer out of its data section'],
    ['a map of a million entries', control(7, 1_000_000), 0, 'ends in the middle of a record'],
    ['a text longer than the file', control(2, 16_000_000), 0, 'ends in the middle of a record'],
    ['a number of 20 octets', Buffer.concat([control(9, 20), Buffer.alloc(20)]), 0, 'type 9'],
    ['a double of 3 octets', Buffer.concat([control(3, 3), Buffer.alloc(3)]), 0, 'type 3'],
    ['an end marker', control(13, 0), 0, 'type 13'],
    ['an unknown type', Buffer.from([0, 200]), 0, 'type 207'],
    ['a key that is a number', map(Buffer.concat([control(6, 0), control(6, 0)])), 0, 'no text'],
    ['lists that point to lists', bomb(), bomb().length - 2, 'go on without end'],
  ])('%s', (_title, bytes, offset, sentence) => {
    const data = new MmdbData(bytes, 0, bytes.length)
    expect(data.read(offset, 'all')).toBeUndefined()
    expect(data.fault).toContain(sentence)
    // Nothing is read after a fault.
    expect(data.read(0, 'all')).toBeUndefined()
  })

  test('all records together may not cost more than their section is long', () => {
    const writer = new DataWriter(false)
    writer.record(Array<Field>(1_000).fill(0))
    const bytes = writer.bytes()
    const data = new MmdbData(bytes, 0, bytes.length)
    let reads = 0
    while (data.fault === undefined && reads < 1_000) {
      data.read(0, 'all')
      reads++
    }
    expect(data.fault).toContain('go on without end')
    expect(reads).toBeLessThan(geoLimits.valuesPerOctetMax + 100)
  })

  test('fields that are not wanted are passed over, whatever they point to', () => {
    const parts = [
      entry(control(6, 0)),
      Buffer.concat([control(2, 1), Buffer.from('x'), pointer(0)]),
    ]
    const bytes = map(...parts)
    const data = new MmdbData(bytes, 0, bytes.length)
    expect(plain(data.read(0, new Map([['k', 'all' as const]])))).toEqual({ k: 0 })
    expect(data.fault).toBeUndefined()
  })
})
