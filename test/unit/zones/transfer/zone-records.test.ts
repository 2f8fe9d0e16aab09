// What a transfer shows where a zone of ours begins below another one.
import { expect, test } from 'vitest'
import { formatName } from '#dns/name.ts'
import { zoneNames, zoneRecords } from '#zones/transfer/zone-records.ts'
import { ZoneSource } from '#zones/transfer/zone-source.ts'
import { bareModel, bundleOf, zone } from '#test/support/bundle-models.ts'

const servers = (name: string, ...addresses: readonly string[]) => ({
  nameservers: [{ name, addresses }],
})
const bundle = bundleOf({
  ...bareModel,
  zones: [
    zone('example.', servers('ns.example.', '192.0.2.1')),
    zone('inside.example.', servers('ns.inside.example.', '192.0.2.2', '2001:db8::2')),
    zone('beside.example.', servers('ns.example.')),
    zone('deep.inside.example.', servers('ns.deep.inside.example.', '192.0.2.3')),
  ],
})

test.each([
  [
    'example.',
    [
      'beside.example. 2',
      'inside.example. 2',
      'ns.example. 1',
      'ns.inside.example. 1',
      'ns.inside.example. 28',
    ],
  ],
  [
    'inside.example.',
    [
      'deep.inside.example. 2',
      'ns.deep.inside.example. 1',
      'ns.inside.example. 1',
      'ns.inside.example. 28',
    ],
  ],
])('%s has its NS records and the addresses of its name servers inside', (name, expected) => {
  const row = zoneNames(bundle).findIndex((wire) => formatName(wire) === name)
  const shown = [...zoneRecords(new ZoneSource(bundle, undefined, 1), row)]
    .filter((step) => step !== null)
    .map(({ owner, type }) => `${formatName(owner)} ${type}`)
  expect(shown.filter((line) => !line.startsWith(`${name} `)).sort()).toEqual(expected)
})
