// Regions as numbers, and back.
import { expect, test } from 'vitest'
import {
  continentBit,
  countryOfPlace,
  firstSubdivision,
  placeCode,
  placeName,
} from '#bundle/format/routing-cells.ts'

test.each([
  ['US', 'US'],
  ['US-CA', 'US'],
  ['AA-0', 'AA'],
  ['FR-75C', 'FR'],
  ['ZZ-ZZZ', 'ZZ'],
  ['GB-ENG', 'GB'],
  ['continent:NA', ''],
])('%s is a number that says so, of the country %s', (region, country) => {
  const code = placeCode(region)
  expect(placeName(code)).toBe(region)
  expect(placeName(countryOfPlace(code))).toBe(country)
  expect(code >= firstSubdivision).toBe(region.includes('-'))
  expect(code >= continentBit && code < firstSubdivision).toBe(region.startsWith('continent:'))
  expect(code).toBeLessThan(2 ** 31)
})

test.each([
  '',
  'unknown',
  'us',
  'us-ca',
  'US-',
  'US-ca',
  'US-CALI',
  'USA',
  'continent:US-CA',
  'US_CA',
])('"%s" is a label that no client is in', (region) => {
  expect(placeCode(region)).toBe(0)
})

test('no two subdivisions have one number', () => {
  const signs = [...'0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZ']
  const two = signs.flatMap((a) => [a, ...signs.map((b) => a + b)])
  const all = two.flatMap((name) => [name, ...signs.map((sign) => name + sign)])
  const names = [...new Set(all)]
  expect(new Set(names.map((name) => placeCode(`DE-${name}`))).size).toBe(names.length)
})
