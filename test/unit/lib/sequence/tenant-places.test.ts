import { expect, test } from 'vitest'
import { TenantPlaces } from '#lib/sequence/tenant-places.ts'

test('a tenant has so many places, and gets one back that is left', () => {
  const places = new TenantPlaces(2)
  const leave = places.enter('a')
  expect(places.enter('a')).toBeDefined()
  expect(places.enter('a')).toBeUndefined()
  expect(places.enter('b')).toBeDefined()
  for (let i = 0; i < 5; i++) expect(places.enter(null)).toBeDefined()
  leave?.()
  expect(places.enter('a')).toBeDefined()
  expect(places.enter('a')).toBeUndefined()
})
