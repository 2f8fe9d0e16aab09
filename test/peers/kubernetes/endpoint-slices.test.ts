// What stands in for the API of a cluster in tests of discovery is what its published schema has.
import { beforeAll, expect, test } from 'vitest'
import { slicePages } from '#test/support/endpoint-slices.ts'
import { installPrograms } from './programs.ts'
import type { Manifest } from './programs.ts'
import { faultsOf } from './schemas.ts'

beforeAll(installPrograms, 300_000)

/** A list says what its items are, and they do not. */
const kind = { apiVersion: 'discovery.k8s.io/v1', kind: 'EndpointSlice' }
const items = Object.values(slicePages).flatMap((page) => (page as { items: object[] }).items)

test('each slice is one of Kubernetes', async () => {
  expect(items.length).toBeGreaterThan(3)
  for (const item of items) expect(await faultsOf({ ...kind, ...item } as Manifest)).toEqual([])
})

test('a field that Kubernetes does not have is found', async () => {
  const wrong = { ...kind, ...items[0], adressType: 'IPv4' } as unknown as Manifest
  expect(await faultsOf(wrong)).toEqual([expect.stringContaining('adressType is not a field')])
})
