// The servers of an address of PostgreSQL, and what it may not say.
import { expect, test } from 'vitest'
import { findPrimary, postgresHosts } from '#state/sql/database/find-primary.ts'

const urlsOf = (url: string): readonly string[] | string => {
  const hosts = postgresHosts(url)
  return hosts.ok ? hosts.value.map((one) => one.url) : hosts.error
}

test.each([
  ['postgresql://u:p@a/d', ['postgresql://u:p@a/d']],
  [
    'postgresql://u:p@a:1,b:2/d?sslmode=verify-full&target_session_attrs=read-write',
    ['postgresql://u:p@a:1/d?sslmode=verify-full', 'postgresql://u:p@b:2/d?sslmode=verify-full'],
  ],
  ['postgresql://a,b/d?target_session_attrs=primary', ['postgresql://a/d', 'postgresql://b/d']],
  // As it was before: the driver says what is wrong.
  ['postgresql://u:p/w@a/d', ['postgresql://u:p/w@a/d']],
])('%s', (url, expected) => {
  expect(urlsOf(url)).toEqual(expected)
})

test.each([
  ['postgresql://u:sec,ret/@a/d', 'In a password write'],
  ['postgresql://a,,b/d', 'is not of the form'],
  ['postgresql://a/d?target_session_attrs=any', 'may be read-write or primary'],
  ['postgresql://a,b/d?target_session_attrs=standby', 'may be read-write or primary'],
])('%s is refused, and no secret is shown', (url, expected) => {
  expect(urlsOf(url)).toContain(expected)
  expect(urlsOf(url)).not.toContain('ret')
})

test('hosts that cannot be reached: the code of the first', async () => {
  const hosts = postgresHosts('postgresql://127.0.0.1:1,127.0.0.1:2/d')
  if (!hosts.ok) throw new Error(hosts.error)
  await expect(findPrimary(hosts.value)).rejects.toMatchObject({ code: 'ECONNREFUSED' })
})
