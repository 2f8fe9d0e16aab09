// Tests how the address of a primary server is read, and which port is meant without one.
import { expect, test } from 'vitest'
import { primaryOf } from '#compiler/values/primaries.ts'

test.each<[text: string, tls: string | undefined, is: string | undefined]>([
  ['192.0.2.53', undefined, '192.0.2.53 53'],
  ['192.0.2.53', 'ns1.example.net', '192.0.2.53 853'],
  ['[2001:db8::53]:5353', 'ns1.example.net', '2001:db8::53 5353'],
  ['ns1.example.net', undefined, undefined],
])('%s, by a certificate for %s', (text, tls, is) => {
  const primary = primaryOf(text, tls)
  expect(primary && `${primary.address} ${primary.port}`).toBe(is)
})
