// Geo databases of every maker's field names as tables: what an address looks up.
import { describe, expect, test } from 'vitest'
import { placeName } from '#bundle/format/routing-cells.ts'
import { parseAddress } from '#dns/address.ts'
import { countryRow, packCode, unpackCode } from '#routing/geo/countries.ts'
import { GeoTables } from '#routing/geo/geo-tables.ts'
import type { RangeTable } from '#routing/tables/range-table.ts'
import { lowerGeo } from '#inputs/geo/lower.ts'
import type { GeoSetting } from '#inputs/geo/lower.ts'
import { openMmdb } from '#inputs/geo/mmdb.ts'
import { writeMmdb } from '#test/support/mmdb-writer.ts'
import type { Field, MmdbPlan } from '#test/support/mmdb-writer.ts'

function lowered(plan: MmdbPlan, setting: GeoSetting): GeoTables {
  const database = openMmdb(writeMmdb(plan))
  if (!database.ok) throw new Error(database.error)
  const result = lowerGeo(database.value, setting)
  if (!result.ok) throw new Error(result.error)
  return new GeoTables(result.value.buffers)
}

function refusal(plan: MmdbPlan, setting: GeoSetting): string {
  const database = openMmdb(writeMmdb(plan))
  if (!database.ok) return database.error
  const result = lowerGeo(database.value, setting)
  return result.ok ? 'accepted' : result.error
}

function valueAt(table: RangeTable, address: string): number {
  const parsed = parseAddress(address)
  if (!parsed.ok) throw new Error(address)
  const view = new DataView(parsed.value.buffer)
  const word = (at: number): number => view.getUint32(at * 4)
  if (parsed.value.length === 4) return table.value4(table.find4(word(0)))
  return table.value6(table.find6(word(0), word(1), word(2), word(3)))
}

function countryAt(tables: GeoTables, address: string): string {
  const { ranges, countryCode, continentCode } = tables.country!
  const row = valueAt(ranges, address)
  return `${unpackCode(countryCode[row]!)}/${unpackCode(continentCode[row]!)}`
}

function subdivisionAt(tables: GeoTables, address: string): string {
  const { ranges, countryCode, subdivisionCode } = tables.subdivision!
  const row = valueAt(ranges, address)
  return `${placeName(subdivisionCode[row]!)} of ${unpackCode(countryCode[row]!)}`
}

const one = (record: Field): MmdbPlan => ({ networks: [['192.0.2.0/24', record]] })

describe('a country database', () => {
  test.each<[string, Field, string]>([
    ['MaxMind', { country: { iso_code: 'DE' }, continent: { code: 'EU' } }, 'DE/EU'],
    ['MaxMind, continent alone', { continent: { code: 'AS' } }, '/AS'],
    [
      'MaxMind, its own opinion',
      { country: { iso_code: 'CY' }, continent: { code: 'AS' } },
      'CY/AS',
    ],
    ['ip-location-db', { country_code: 'NZ' }, 'NZ/OC'],
    ['ip-location-db in small letters', { country_code: 'nz' }, 'NZ/OC'],
    ['IPinfo Lite', { country: 'Japan', country_code: 'JP', continent_code: 'AS' }, 'JP/AS'],
    ['IPinfo before', { country: 'BR', continent: 'SA', country_name: 'Brazil' }, 'BR/SA'],
    ['IPinfo, continent by name', { country_code: 'FR', continent: 'Europe' }, 'FR/EU'],
  ])('of %s gives country and continent', (_maker, record, wanted) => {
    expect(countryAt(lowered(one(record), 'geoip.dbPath'), '192.0.2.77')).toBe(wanted)
    expect(countryAt(lowered(one(record), 'latency.geoipDBPath'), '192.0.2.77')).toBe(wanted)
  })

  test('says nothing of who only registered a network there', () => {
    const plan: MmdbPlan = {
      networks: [
        ['192.0.2.0/24', { registered_country: { iso_code: 'US' } }],
        ['198.51.100.0/24', { country: { iso_code: 'AT' } }],
      ],
    }
    const tables = lowered(plan, 'geoip.dbPath')
    expect(countryAt(tables, '192.0.2.1')).toBe('/')
    expect(countryAt(tables, '198.51.100.1')).toBe('AT/EU')
    expect(countryAt(tables, '203.0.113.1')).toBe('/')
  })

  test.each<[string, Field, string]>([
    ['MaxMind', { country: { iso_code: 'US' }, subdivisions: [{ iso_code: 'CA' }] }, 'US-CA'],
    [
      'MaxMind, the smaller one of two',
      { country: { iso_code: 'GB' }, subdivisions: [{ iso_code: 'ENG' }, { iso_code: 'LND' }] },
      'GB-LND',
    ],
    ['IPinfo', { country_code: 'US', region: 'California', region_code: 'CA' }, 'US-CA'],
  ])('of %s gives the subdivision beside the country', (_maker, record, wanted) => {
    for (const setting of ['geoip.dbPath', 'latency.geoipDBPath'] as const) {
      const tables = lowered(one(record), setting)
      expect(subdivisionAt(tables, '192.0.2.77')).toBe(`${wanted} of ${wanted.slice(0, 2)}`)
      expect(countryAt(tables, '192.0.2.77')).toMatch(`${wanted.slice(0, 2)}/`)
      expect(subdivisionAt(tables, '203.0.113.1')).toBe(' of ')
    }
  })

  test.each<[string, Field, string]>([
    ['of two', [{ iso_code: 'IDF' }, { iso_code: '75' }], 'FR-75 in FR-IDF'],
    ['of one', [{ iso_code: 'IDF' }], 'FR-IDF in '],
    ['without a code for the smaller', [{ iso_code: 'IDF' }, { geoname_id: 1 }], 'FR-IDF in '],
    ['without a code for the larger', [{ geoname_id: 1 }, { iso_code: '75' }], 'FR-75 in '],
  ])('of a list %s keeps both levels', (_what, subdivisions, wanted) => {
    const record = { country: { iso_code: 'FR' }, subdivisions }
    const table = lowered(one(record), 'geoip.dbPath').subdivision!
    const row = table.ranges.value4(table.ranges.find4(0xc000_024d))
    const places = [table.subdivisionCode[row]!, table.outerSubdivisionCode[row]!]
    expect(places.map(placeName).join(' in ')).toBe(wanted)
  })

  test.each<[string, Field]>([
    ['no subdivision', { country_code: 'DE' }],
    ['an empty list', { country_code: 'DE', subdivisions: [] }],
    ['a name alone', { country_code: 'DE', subdivisions: [{ names: { en: 'Berlin' } }] }],
    ['a text for a list', { country_code: 'DE', subdivisions: 'BE' }],
    ['a code that is too long', { country_code: 'DE', subdivisions: [{ iso_code: 'BERLIN' }] }],
    ['no country', { continent_code: 'EU', subdivisions: [{ iso_code: 'BE' }] }],
  ])('with %s knows no subdivisions', (_what, record) => {
    expect(lowered(one(record), 'geoip.dbPath').subdivision).toBeNull()
  })

  test('has the rows that every other database has', () => {
    const row = countryRow(packCode('DE'))
    const tables = lowered(one({ country_code: 'DE' }), 'geoip.dbPath')
    expect(valueAt(tables.country!.ranges, '192.0.2.1')).toBe(row)
  })

  test('has one range for neighbours of one country, whatever else they differ in', () => {
    const networks = Array.from(
      { length: 64 },
      (_, i) => [`192.0.2.${i}/32`, { country_code: 'DE', city: `no ${i}` }] as const,
    )
    const { ranges } = lowered({ networks }, 'geoip.dbPath').country!
    expect(ranges.count4).toBe(3)
  })
})

describe('a City database', () => {
  const place = { latitude: 50.11, longitude: -8.68 }

  test.each<[string, Field]>([
    ['MaxMind and DB-IP', { country: { iso_code: 'DE' }, location: place }],
    ['ip-location-db', { country_code: 'DE', ...place }],
    ['IPinfo', { country: 'DE', lat: '50.11', lng: '-8.68' }],
    ['IPinfo today', { country_code: 'DE', latitude: 50.11, longitude: '-8.68' }],
  ])('of %s gives a place as a unit vector, and the country', (_maker, record) => {
    const tables = lowered(one(record), 'geoip.dbPath')
    const { ranges, x, y, z, countryRow: countryRows } = tables.location!
    const row = valueAt(ranges, '192.0.2.1')
    expect(Math.hypot(x[row]!, y[row]!, z[row]!)).toBeCloseTo(1, 6)
    expect((Math.asin(z[row]!) * 180) / Math.PI).toBeCloseTo(50.11, 4)
    expect((Math.atan2(y[row]!, x[row]!) * 180) / Math.PI).toBeCloseTo(-8.68, 4)
    expect(countryRows[row]).toBe(countryRow(packCode('DE')))
    expect(countryAt(tables, '192.0.2.1')).toBe('DE/EU')
  })

  test.each<[string, Field]>([
    ['no longitude', { country_code: 'DE', latitude: 1 }],
    ['a latitude beyond the pole', { country_code: 'DE', latitude: 91, longitude: 0 }],
    ['a text that is no number', { country_code: 'DE', lat: '1e1', lng: '0' }],
  ])('with %s knows the country, and the place as unknown', (_title, record) => {
    const networks = [
      ['192.0.2.0/24', record],
      ['198.51.100.0/24', { country_code: 'DE', lat: 1, lng: 1 }],
    ] as const
    const tables = lowered({ networks }, 'geoip.dbPath')
    expect(valueAt(tables.location!.ranges, '192.0.2.1')).toBe(0)
    expect(valueAt(tables.location!.ranges, '198.51.100.1')).toBe(1)
    expect(tables.location!.x[0]).toBe(0)
    expect(countryAt(tables, '192.0.2.1')).toBe('DE/EU')
  })

  test('without places is a Country database', () => {
    const tables = lowered(one({ country_code: 'DE' }), 'geoip.dbPath')
    expect(tables.location).toBeNull()
    expect(tables.asn).toBeNull()
  })
})

describe('an ASN database', () => {
  test.each<[string, Field, number, string]>([
    [
      'MaxMind, DB-IP and ip-location-db',
      { autonomous_system_number: 64_496, autonomous_system_organization: 'Exämple GmbH' },
      64_496,
      'Exämple GmbH',
    ],
    ['MaxMind Enterprise', { traits: { autonomous_system_number: 5 } }, 5, ''],
    ['IPinfo', { asn: 'AS64496', name: 'Example', domain: 'example.com' }, 64_496, 'Example'],
    ['IPinfo Lite', { asn: 'AS4200000000', as_name: 'Example' }, 4_200_000_000, 'Example'],
  ])('of %s gives number and organisation', (_maker, record, number, organisation) => {
    const { asn } = lowered(one(record), 'asn.dbPath')
    const row = valueAt(asn!.ranges, '192.0.2.1')
    expect(asn!.asnNumber[row]).toBe(number)
    expect(asn!.organisation(row)).toBe(organisation)
    expect([asn!.asnNumber[0], asn!.organisation(0)]).toEqual([0, ''])
  })

  test('keeps one row per operator', () => {
    const networks = Array.from(
      { length: 32 },
      (_, i) => [`192.0.2.${i * 2}/32`, { asn: 'AS1', name: `no ${i % 2}`, i }] as const,
    )
    const { asn } = lowered({ networks }, 'asn.dbPath')
    expect(asn!.asnNumber.length).toBe(3)
  })
})

describe('IPv6', () => {
  const networks = [
    ['2001:db8::/32', { country_code: 'DE' }],
    ['192.0.2.0/24', { country_code: 'FR' }],
    ['2400::/12', { country_code: 'JP' }],
  ] as const

  test.each([24, 28, 32] as const)('and IPv4 stand in one tree of %i bits', (recordSize) => {
    const tables = lowered({ networks, recordSize, aliases: true }, 'geoip.dbPath')
    expect(countryAt(tables, '2001:db8::1')).toBe('DE/EU')
    expect(countryAt(tables, '2001:db9::1')).toBe('/')
    expect(countryAt(tables, '192.0.2.1')).toBe('FR/EU')
    expect(countryAt(tables, '240f:ffff::')).toBe('JP/AS')
  })

  test('aliases of the IPv4 tree are not walked again', () => {
    const plain = lowered({ networks }, 'geoip.dbPath').country!.ranges
    const aliased = lowered({ networks, aliases: true }, 'geoip.dbPath').country!.ranges
    expect([aliased.count4, aliased.count6]).toEqual([plain.count4, plain.count6])
  })

  test('one record above ::/96 stands for every IPv4 address, too', () => {
    const tables = lowered({ networks: [['::/64', { country_code: 'FR' }]] }, 'geoip.dbPath')
    expect(countryAt(tables, '255.255.255.255')).toBe('FR/EU')
    expect(countryAt(tables, '::1:2:3:4')).toBe('FR/EU')
    expect(countryAt(tables, '0:0:0:1::')).toBe('/')
  })

  test('is unknown to a database of IPv4', () => {
    const plan: MmdbPlan = { networks: [['0.0.0.0/0', { country_code: 'FR' }]], ipVersion: 4 }
    const tables = lowered(plan, 'geoip.dbPath')
    expect(countryAt(tables, '255.255.255.255')).toBe('FR/EU')
    expect(countryAt(tables, '2001:db8::1')).toBe('/')
  })
})

describe('a database of the wrong type', () => {
  test.each<[GeoSetting, string, Field, string]>([
    ['geoip.dbPath', 'GeoLite2-ASN', { autonomous_system_number: 1 }, 'a City or Country database'],
    ['latency.geoipDBPath', 'GeoLite2-ASN', { asn: 'AS1' }, 'a Country or City database'],
    ['asn.dbPath', 'GeoLite2-City', { country: { iso_code: 'DE' } }, 'an ASN database'],
  ])('for %s is refused with its type, %s, and what is wanted', (setting, type, record, wanted) => {
    const sentence = refusal({ ...one(record), type }, setting)
    expect(sentence).toContain(`has the type "${type}"`)
    expect(sentence).toContain(`${setting} wants ${wanted}`)
  })
})
