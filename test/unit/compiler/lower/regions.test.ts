// Which regions a client can be in, and what is suggested for the others.
import { expect, test } from 'vitest'
import { isRegionOfClients, suggestRegion } from '#compiler/lower/regions.ts'

test.each(['DE', 'XK', 'US-CA', 'FR-75C', 'GB-ENG', 'continent:EU', 'unknown', ''])(
  'a client may be in "%s"',
  (region) => {
    expect(isRegionOfClients(region)).toBe(true)
  },
)

test.each([
  ['de', 'DE'],
  ['UK', 'GB'],
  ['us-ca', 'US-CA'],
  ['US_CA', 'US-CA'],
  ['fr-75c', 'FR-75C'],
  ['UK-ENG', 'GB-ENG'],
  ['QQ-1', undefined],
  ['rack-7', undefined],
  ['Germany', 'DE'],
  ['Germny', 'DE'],
  ['europe', 'continent:EU'],
  ['EU', 'continent:EU'],
  ['continent:Europe', 'continent:EU'],
  ['continent:eu', 'continent:EU'],
  ['Continent:EU', 'continent:EU'],
  ['continent:south-america', 'continent:SA'],
  ['continent:UK', undefined],
  ['rack 7', undefined],
])('no client is in "%s": %s is suggested', (region, suggestion) => {
  expect(isRegionOfClients(region)).toBe(false)
  expect(suggestRegion(region)).toBe(suggestion)
})
