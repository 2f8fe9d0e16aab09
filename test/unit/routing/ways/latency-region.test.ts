// The algorithm latency: whose region gets the bonus.
import { expect, test } from 'vitest'
import { plainRouting } from '#bundle/format/model.ts'
import { bareModel, member, pool, service, zone } from '#test/support/bundle-models.ts'
import { routingSite } from '#test/support/routing-site.ts'
import type { World } from '#test/support/routing-site.ts'

const regions = ['DE', 'FR', 'continent:NA', 'unknown']
const world: World = {
  countries: [
    ['10.1.0.0/16', 'DE'],
    ['10.2.0.0/16', 'JP'],
    ['10.3.0.0/16', 'US'],
  ],
}
const known = '10.1.0.1'
const elsewhere = '10.2.0.1'
const american = '10.3.0.1'
const unknown = '10.9.0.1'

/** Regions of the members that a client is sent to in twenty draws. */
function chosen(
  client: string,
  fallbackRegion: string,
  databases: World,
  ofMembers: readonly string[] = regions,
): string {
  const members = ofMembers.map((region, i) => member(`192.0.2.${i + 1}`, { region }))
  const site = routingSite(
    {
      ...bareModel,
      zones: [zone('test.')],
      pools: [pool(1, members)],
      services: [service(1, 'a.test.', { algorithm: 'latency', pool: 0 })],
      routing: { ...plainRouting, latency: { ...plainRouting.latency, fallbackRegion } },
    },
    databases,
  )
  site.state.memberRttMs.fill(20)
  const seen = new Set<number>()
  for (let turn = 0; turn < 40; turn++) seen.add(site.choose(client, { turn }).addresses[0]!)
  return [...seen]
    .sort()
    .map((row) => ofMembers[row]!)
    .join(' ')
}

const anyone = regions.join(' ')

test.each([
  ['a known client goes to its country', known, 'FR', world, 'DE'],
  ['an unknown one to the fallback', unknown, 'FR', world, 'FR'],
  ['an unknown one to the continent to fall back on', unknown, 'continent:NA', world, regions[2]!],
  ['an unknown one to the continent of that country', unknown, 'US', world, regions[2]!],
  ['a client by its continent', american, 'FR', world, regions[2]!],
  ['a known client in no region of a member goes anywhere', elsewhere, 'FR', world, anyone],
  [
    'the default is no region, not even that of members called so',
    unknown,
    'unknown',
    world,
    anyone,
  ],
  ['a fallback where nobody is counts for nothing', unknown, 'BR', world, anyone],
  ['without a database there is no bonus', unknown, 'FR', {}, anyone],
])('%s', (_title, client, fallbackRegion, databases, expected) => {
  expect(chosen(client, fallbackRegion, databases)).toBe(expected)
})

test.each([
  ['a province before its region', '10.1.0.1', ['IT', 'IT-25', 'IT-MI'], 'IT-MI'],
  ['a region before the country', '10.1.0.1', ['IT-25', 'IT', 'IT-BG'], 'IT-25'],
  ['a region for who is in it', '10.2.0.1', ['IT', 'IT-MI', 'IT-25'], 'IT-25'],
  ['the province to fall back on', '10.9.0.1', ['IT', 'IT-25', 'IT-MI'], 'IT-MI'],
  ['the region of that province', '10.9.0.1', ['continent:EU', 'IT-25', 'IT'], 'IT-25'],
])('a client is sent to %s', (_title, client, ofMembers, expected) => {
  const databases: World = {
    countries: [
      ['10.1.0.0/16', 'IT-MI'],
      ['10.2.0.0/16', 'IT-25'],
    ],
  }
  expect(chosen(client, 'IT-MI', databases, ofMembers)).toBe(expected)
})
