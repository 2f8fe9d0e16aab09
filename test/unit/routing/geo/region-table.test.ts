// The table of the regions that members have: what clients are told apart by, and what not.
import { expect, test } from 'vitest'
import { countryOfPlace, placeCode, placeName } from '#bundle/format/routing-cells.ts'
import { CountryTable } from '#routing/geo/geo-tables.ts'
import { regionTable, regionsWithSubdivisions } from '#routing/geo/region-table.ts'
import { bundleOf, member, pool } from '#test/support/bundle-models.ts'
import { geoBuffersOf } from '#test/support/routing-site.ts'

const database = geoBuffersOf({
  countries: [
    ['10.0.0.0/16', 'US-CA'],
    ['10.1.0.0/16', 'US-OR'],
    ['10.2.0.0/16', 'US'],
    ['10.3.0.0/16', 'MX'],
    ['10.4.0.0/16', 'CA-QC'],
    ['10.5.0.0/16', 'DE'],
    ['10.6.0.0/16', 'FR-IDF'],
    ['10.7.0.0/16', 'ZZ'],
  ],
}).subdivision!

function regionsOf(...regions: string[]): ReadonlySet<number> {
  const members = regions.map((region, i) => member(`192.0.2.${i + 1}`, { region }))
  return regionsWithSubdivisions(bundleOf({ pools: [pool(1, members)] }))
}

/** Region of each range from 10.0.0.0 on. */
function told(regions: ReadonlySet<number>): string[] | null {
  const buffers = regionTable(database, regions)
  if (buffers === null) return null
  const { ranges, countryCode, continentCode, subdivisionCode } = new CountryTable(buffers)
  return Array.from({ length: ranges.count4 }, (_, row) => {
    const value = ranges.value4(row)
    const continent = placeName(continentCode[value]!)
    const place = subdivisionCode[value]! || countryCode[value]!
    expect(countryOfPlace(place)).toBe(countryCode[value])
    return `${ranges.start4(row) >>> 16}: ${placeName(place)}/${continent}`
  })
}

test('a subdivision is told apart where a member has it, a country likewise', () => {
  expect(told(regionsOf('US-CA', 'DE'))).toEqual([
    '0: /',
    '2560: US-CA/NA',
    '2561: US/NA',
    '2563: /NA',
    '2565: DE/EU',
    '2566: /EU',
    '2567: ZZ/',
    '2568: /',
  ])
})

test('the larger subdivision is one place where no member has a smaller one of it', () => {
  const { subdivision } = geoBuffersOf({
    countries: [
      ['10.0.0.0/16', 'GB-LND'],
      ['10.1.0.0/16', 'GB-KEN'],
      ['10.2.0.0/16', 'GB-SCT'],
      ['10.3.0.0/16', 'GB-ENG'],
    ],
  })
  const starts = (...regions: string[]) => {
    const { ranges } = new CountryTable(regionTable(subdivision!, regionsOf(...regions))!)
    return Array.from({ length: ranges.count4 }, (_, row) => ranges.start4(row) >>> 16)
  }
  expect(starts('GB-ENG', 'GB')).toEqual([0, 2560, 2562, 2563, 2564])
  expect(starts('GB-LND', 'GB')).toEqual([0, 2560, 2561, 2564])
  expect(starts('GB-LND', 'GB-ENG', 'GB')).toEqual([0, 2560, 2561, 2562, 2563, 2564])
})

test('without a subdivision that the database knows the countries will do', () => {
  expect(told(regionsOf('US-TX', 'DE'))).toBeNull()
  expect(regionsOf('US', 'continent:EU', 'unknown').size).toBe(0)
  expect(told(new Set([placeCode('US')]))).toBeNull()
})
