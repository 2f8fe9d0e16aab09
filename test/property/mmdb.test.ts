// Any octets at all in place of a geo database: a sentence or tables, in bounded time, no throw.
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { Random } from '#lib/random.ts'
import { damaged, geoSettings, mmdbCorpus, outcomeOf } from '#test/fuzz/targets/mmdb.ts'
import { writeMmdb } from '#test/support/mmdb-writer.ts'
import type { MmdbPlan } from '#test/support/mmdb-writer.ts'
import { hostileMmdbs } from '#test/support/hostile-mmdbs.ts'

const record = {
  country: { iso_code: 'DE', names: { en: 'Germany', de: 'Deutschland' } },
  continent: { code: 'EU' },
  location: { latitude: 50.1, longitude: 8.7 },
  asn: 'AS64496',
  name: 'Example',
  list: [1, 2n ** 40n, true, 'text'],
}
const networks: MmdbPlan['networks'] = [
  ['192.0.2.0/24', record],
  ['198.51.100.0/25', { ...record, country: { iso_code: 'FR' } }],
  ['2001:db8::/32', { ...record, asn: 'AS64497' }],
]
const honest = ([24, 28, 32] as const).map((recordSize) =>
  writeMmdb({ networks, recordSize, aliases: true }),
)
/** A thousandth of a second is usual; the rest is for a machine with other work. */
const millisecondsMax = 2_000

function check(bytes: Buffer): void {
  for (const setting of geoSettings) {
    const startedMs = performance.now()
    const outcome = outcomeOf(bytes, setting)
    expect(outcome).not.toBe('a value is no row')
    expect(performance.now() - startedMs).toBeLessThan(millisecondsMax)
  }
}

describe('a geo database', () => {
  test.each(geoSettings)('that is whole is accepted for %s', (setting) => {
    expect(honest.map((bytes) => outcomeOf(bytes, setting))).toEqual(Array(3).fill('accepted'))
  })

  test('that is damaged in any way is read or refused, in bounded time', () => {
    fc.assert(
      fc.property(fc.integer(), fc.integer({ min: 0, max: 2 }), (seed, which) => {
        check(damaged(honest[which]!, new Random(seed)))
      }),
      { numRuns: 3_000 },
    )
  })

  test('is refused if made of random octets, even before honest metadata', () => {
    const tail = honest[0]!.subarray(honest[0]!.indexOf('MaxMind.com') - 3)
    fc.assert(
      fc.property(fc.uint8Array({ maxLength: 2_000 }), fc.boolean(), (octets, hasTail) => {
        check(hasTail ? Buffer.concat([octets, tail]) : Buffer.from(octets))
      }),
      { numRuns: 1_000 },
    )
  })

  test('with any metadata is read or refused', () => {
    const value = fc.oneof(
      fc.nat(0xffff_ffff),
      fc.constantFrom(0, 1, 4, 6, 24, 28, 32),
      fc.string(),
    )
    const keys = [
      'node_count',
      'record_size',
      'ip_version',
      'build_epoch',
      'database_type',
    ] as const
    fc.assert(
      fc.property(fc.constantFrom(...keys), value, (key, replaced) => {
        check(writeMmdb({ networks, metadata: { [key]: replaced } }))
      }),
      { numRuns: 500 },
    )
  })
})

describe('the collected hostile files', () => {
  test('are all there', () => {
    const folder = join(import.meta.dirname, '..', 'fuzz', 'corpus', 'mmdb')
    if (process.env['GSLBD_UPDATE'] === '1') {
      for (const { name, bytes } of hostileMmdbs()) writeFileSync(join(folder, name), bytes)
    }
    const stored = new Map(mmdbCorpus().map(({ name, bytes }) => [name, bytes.toString('hex')]))
    for (const { name, bytes } of hostileMmdbs()) {
      expect(stored.get(name), name).toBe(bytes.toString('hex'))
    }
  })

  test.each(mmdbCorpus())('$name is refused for what its name says', ({ name, bytes }) => {
    check(bytes)
    const words = name.split('.').at(-1)!.replaceAll('-', ' ')
    expect(outcomeOf(bytes, 'geoip.dbPath')).toContain(words)
  })
})
