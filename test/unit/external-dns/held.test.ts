// What external-dns is shown where records came in by a zone transfer.
import { expect, test } from 'vitest'
import { heldBy } from '#external-dns/held.ts'
import { recordOperations } from '#external-dns/record-operations.ts'
import type { RecordSet } from '#schemas/objects/records.ts'
import { entryOf, viewOf } from '#test/support/config-view.ts'

const zone = 'example.com.'
const settings = entryOf('Settings', 'gslb.yaml', 'settings', {
  zones: [
    {
      ...{ name: zone, tenants: ['acme'], nameservers: [{ name: 'ns1.example.net.' }] },
      from: { primaries: ['192.0.2.53'] },
    },
  ],
})
const fileOf = (name: string, ...records: readonly Pick<RecordSet, 'name' | 'type' | 'values'>[]) =>
  entryOf('Records', `tenants/acme/records/${name}.yaml`, name, {
    zone,
    ...(name.endsWith('-transferred')
      ? { transfer: { soa: { serial: 1, refresh: 1, retry: 1, expire: 1 } } }
      : {}),
    records: records.map((one) => ({ ...one, values: [...one.values] })),
  })
const a = (name: string, value: string) => ({ name, type: 'A' as const, values: [value] })
const cameIn = fileOf('example.com-transferred', a('app', '192.0.2.7'), a('mail', '192.0.2.8'))

test('a record of its own is shown, not the one that gives way to it', () => {
  for (const file of ['app.example.com', 'zz']) {
    const { snapshot } = viewOf(settings, cameIn, fileOf(file, a('app', '203.0.113.1')))
    const { endpoints, sets } = heldBy(snapshot(), 'acme')
    expect(endpoints.map(({ name, targets }) => [name, targets])).toEqual([
      ['app.example.com.', ['203.0.113.1']],
    ])
    expect(sets.get('A app.example.com.')?.found.owner.name).toBe(file)
  }
})

test('a name that came in can get a record, which is a file of its own', () => {
  const snapshot = viewOf(settings, cameIn).snapshot()
  const held = heldBy(snapshot, 'acme')
  expect(held.endpoints).toEqual([])
  const endpoint = {
    ...{ name: 'mail.example.com.', type: 'A', set: '', ttlSeconds: 60, targets: ['203.0.113.2'] },
    ...{ labels: {}, properties: {}, isOwnership: false },
  }
  const wanted = new Map([['k', { endpoint, isThere: true }]])
  expect(recordOperations({ snapshot, tenant: 'acme', held }, wanted)).toMatchObject({
    value: [{ verb: 'create', owner: { name: 'mail.example.com' }, spec: { name: 'mail' } }],
  })
})
