// The table of subdivisions: which ones there are, and in which larger one each lies.
import { expect, test } from 'vitest'
import { placeCode, placeName } from '#bundle/format/routing-cells.ts'
import { isSubdivision, outerSubdivision } from '#routing/geo/subdivisions.ts'

test.each(['US-CA', 'GB-ENG', 'GB-LND', 'FR-75', 'FR-75C', 'ES-M', 'IT-MI', 'AD-02', 'TF'])(
  'there is %s, unless it is a country',
  (region) => {
    expect(isSubdivision(region)).toBe(region.includes('-'))
  },
)

test.each(['US-ZZ', 'us-ca', 'XX-1', '', 'continent:EU', 'GB-LOND'])(
  'there is no subdivision "%s"',
  (region) => {
    expect(isSubdivision(region)).toBe(false)
  },
)

test.each([
  ['FR-75', 'FR-IDF'],
  ['GB-LND', 'GB-ENG'],
  ['IT-MI', 'IT-25'],
  ['ES-M', 'ES-MD'],
  ['FR-IDF', ''],
  ['US-CA', ''],
  ['US', ''],
  ['continent:EU', ''],
])('%s lies in %s', (inner, outer) => {
  expect(placeName(outerSubdivision(placeCode(inner)))).toBe(outer)
})
