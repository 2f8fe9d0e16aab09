// Addresses with several hosts.
import fc from 'fast-check'
import { expect, test } from 'vitest'
import { listedHosts } from '#state/ports/host-list.ts'

test.each<[string, string]>([
  ['redis://one', 'one 0 redis://one'],
  ['redis://one:1,two:2/3', 'one 1 redis://one:1/3, two 2 redis://two:2/3'],
  ['redis://u:p,q@one,two?x=1', 'one 0 redis://u:p,q@one?x=1, two 0 redis://u:p,q@two?x=1'],
  ['postgresql://[::1]:5432,b/d', '::1 5432 postgresql://[::1]:5432/d, b 0 postgresql://b/d'],
])('%s', (address, expected) => {
  const hosts = listedHosts(address)?.map(({ host, port, url }) => `${host} ${port} ${url}`)
  expect(hosts?.join(', ')).toBe(expected)
})

test.each([
  '',
  'one:1',
  'redis://',
  'redis://one,,two',
  'redis://one:70000',
  'redis://one:x',
  'redis://u@v@one',
  'redis://o ne',
])('"%s" is none', (address) => {
  expect(listedHosts(address)).toBeUndefined()
})

test('any text is parsed without an exception, and each address has one host', () => {
  fc.assert(
    fc.property(fc.oneof(fc.string(), fc.webUrl()), (address) => {
      for (const { url } of listedHosts(address) ?? []) expect(listedHosts(url)).toHaveLength(1)
    }),
  )
})
