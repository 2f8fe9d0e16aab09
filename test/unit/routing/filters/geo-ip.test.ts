// The filter geo-ip: subdivision before country before continent, and who is preferred elsewhere.
import { expect, test } from 'vitest'
import { bareModel, member, pool, service, zone } from '#test/support/bundle-models.ts'
import { routingSite } from '#test/support/routing-site.ts'
import type { World } from '#test/support/routing-site.ts'

const world: World = {
  countries: [
    ['10.1.0.0/16', 'US-CA'],
    ['10.2.0.0/16', 'US-OR'],
    ['10.3.0.0/16', 'US'],
    ['10.4.0.0/16', 'MX'],
    ['10.5.0.0/16', 'CA'],
    ['10.6.0.0/16', 'IT-MI'],
    ['10.7.0.0/16', 'IT-25'],
    ['2001:db8::/32', 'US-CA'],
  ],
}
/** Records of a Country database for the same networks. */
const countriesAlone: World = {
  countries: world.countries!.map(([cidr, code]) => [cidr, code.slice(0, 2)]),
}
const [californian, oregonian, american, mexican, canadian] = [1, 2, 3, 4, 5].map(
  (octet) => `10.${octet}.0.1`,
) as [string, string, string, string, string]
const [milanese, lombard, unknown] = ['10.6.0.1', '10.7.0.1', '10.9.0.1'] as const

/** Regions of the members that are left, in their order. */
function left(client: string, regions: readonly string[], databases = world): string {
  const members = regions.map((region, i) => member(`192.0.2.${i + 1}`, { region }))
  const site = routingSite(
    {
      ...bareModel,
      zones: [zone('test.')],
      pools: [pool(1, members)],
      services: [
        service(1, 'a.test.', { filterChain: ['geo-ip'], pool: 0, answerCount: regions.length }),
      ],
    },
    databases,
  )
  return site
    .choose(client)
    .addresses.map((row) => regions[row]!)
    .join(' ')
}

const all = ['DE', 'continent:NA', 'US', 'US-CA', 'unknown']

test.each([
  ['its subdivision', californian, all, 'US-CA'],
  ['its country, without a member in its subdivision', oregonian, all, 'US'],
  ['its country, where no more is known', american, all, 'US'],
  ['its country, without a candidate in California', californian, ['US-NY', 'DE', 'US'], 'US'],
  ['its continent', mexican, all, 'continent:NA'],
  ['its continent, before other states', oregonian, ['US-CA', 'continent:NA'], 'continent:NA'],
  ['its province before its region', milanese, ['IT', 'IT-25', 'IT-MI'], 'IT-MI'],
  ['its region, without a candidate in its province', milanese, ['IT', 'IT-25'], 'IT-25'],
  ['its region, where the province is not known', lombard, ['IT', 'IT-MI', 'IT-25'], 'IT-25'],
  ['its country, with members in another province', milanese, ['IT-BG', 'IT'], 'IT'],
  ['its subdivision, over IPv6', '2001:db8::1', ['US', 'US-CA'], 'US-CA'],
])('a client is sent to members of %s', (_title, client, regions, expected) => {
  expect(left(client, regions)).toBe(expected)
})

test.each([
  ['another state first, then the continent', oregonian, 'US-CA MX unknown DE'],
  ['the same where the state is not known', american, 'US-CA MX unknown DE'],
  ['all of the continent alike', canadian, 'MX US-CA unknown DE'],
  ['nowhere', unknown, 'unknown DE MX US-CA'],
])('a client without a member gets %s', (_title, client, expected) => {
  expect(left(client, ['DE', 'MX', 'unknown', 'US-CA'])).toBe(expected)
})

test('a Country database finds the other states of a country, as the nearest', () => {
  expect(left(californian, ['DE', 'MX', 'US-CA'], countriesAlone)).toBe('US-CA MX DE')
  expect(left(californian, ['DE', 'US', 'US-CA'], countriesAlone)).toBe('US')
})

const forAll = ['continent:*', 'US', 'DE', 'unknown', 'continent:*']

test.each([
  ['where nobody has its region, though one is near', mexican, forAll, 'continent:* continent:*'],
  ['where no database knows it', unknown, forAll, 'continent:* continent:*'],
  ['not where one has its country', oregonian, forAll, 'US'],
  ['not where one has its continent', canadian, [...forAll, 'continent:NA'], 'continent:NA'],
])('members of continent:* are for a client %s', (_title, client, regions, expected) => {
  expect(left(client, regions)).toBe(expected)
})

test('members of continent:* are for everybody while there is no database', () => {
  expect(left(californian, forAll, {})).toBe('continent:* continent:*')
  expect(left(californian, ['US', 'DE'], {})).toBe('US DE')
})

test('regions are compared exactly, with case', () => {
  expect(left(californian, ['us-ca', 'US'])).toBe('US')
})
