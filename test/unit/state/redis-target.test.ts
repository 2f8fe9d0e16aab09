// Which Redis the settings mean, and what they may not say.
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { redisFault } from '#state/ephemeral.ts'
import { libraryClient } from '#state/redis/client.ts'
import { prefixFor } from '#state/redis/redis.ts'
import { redisTarget } from '#state/redis/target.ts'
import type { RedisSettings, RedisTarget } from '#state/redis/target.ts'
import { tempDir } from '#test/support/temp-dir.ts'

const targetOf = (settings: RedisSettings): RedisTarget => {
  const target = redisTarget(settings)
  if (!target.ok) throw new Error(target.error)
  return target.value
}
const placesOf = ({ kind, hosts }: RedisTarget): string =>
  `${kind}: ${hosts.map(({ host, port }) => `${host}:${port}`).join(' ')}`

test.each<[string, RedisSettings]>([
  ['one: r:6379', { url: 'redis://r' }],
  ['one: ::1:7000', { url: 'redis://[::1]:7000/5' }],
  ['sentinels: a:26379 b:5', { url: 'redis://a,b:5', master: 'm' }],
  ['cluster: a:6379 b:7001', { url: 'redis://a,b:7001', cluster: true }],
])('%s', (expected, settings) => {
  expect(placesOf(targetOf(settings))).toBe(expected)
})

test('user, password and database are those of the address, decoded', () => {
  const target = targetOf({ url: 'redis://ann:p%40ss%2F@r:1/7', sentinelPassword: 's' })
  expect(target).toMatchObject({ username: 'ann', password: 'p@ss/', database: 7, tls: null })
  expect(target.sentinelPassword).toBe('s')
})

test('authorities are read from a file', () => {
  const ca = join(tempDir('ca'), 'ca.pem')
  writeFileSync(ca, '-----BEGIN CERTIFICATE-----\n')
  const target = targetOf({ url: 'rediss://r', ca, serverName: 'redis.test' })
  expect(target.tls).toEqual({ ca: '-----BEGIN CERTIFICATE-----\n', serverName: 'redis.test' })
  expect(redisFault({ url: 'redis://r', ca })).toContain('without TLS: use rediss://')
  writeFileSync(ca, 'nothing')
  expect(redisFault({ url: 'rediss://r', ca })).toBe(`redis.ca: ${ca} has no certificate in PEM.`)
  expect(redisFault({ url: 'rediss://r', ca: '/none' })).toContain('/none cannot be read (ENOENT)')
})

test.each<[RedisSettings, string]>([
  [{ url: 'localhost:6379' }, 'redis.url is not of the form'],
  [{ url: 'http://r' }, 'redis.url is not of the form'],
  [{ url: 'redis://%zz:secret@r' }, 'redis.url is not of the form'],
  [{ url: 'redis://r/secret' }, 'redis.url is not of the form'],
  [{ url: 'redis://secret@a,b' }, 'redis.url has several hosts: set redis.master'],
  [{ url: 'redis://a', master: 'm', cluster: true }, 'exclude each other'],
  [{ url: 'redis://a/1', cluster: true }, 'a Cluster has only 0'],
])('%j is refused, and no secret is shown', (settings, expected) => {
  expect(redisFault(settings)).toContain(expected)
  expect(redisFault(settings)).not.toContain('secret')
})

test('without an address there is nothing to find fault with', () => {
  expect(redisFault({ url: '', cluster: true })).toBeUndefined()
})

test('in a Cluster all keys lie in one slot', () => {
  expect(prefixFor(targetOf({ url: 'redis://a', cluster: true }), 'gslbd:')).toBe('{gslbd}:')
  expect(prefixFor(targetOf({ url: 'redis://a' }), 'gslbd:')).toBe('gslbd:')
})

test('connections to several places share the class of the library', async () => {
  const target = targetOf({ url: 'redis://a,b:5', master: 'm' })
  const made = target.hosts.map(async (place) => {
    const client = await libraryClient({ target, place, isSentinel: true })
    return classOf(classOf(client))
  })
  const [one, other] = await Promise.all(made)
  expect(one).toHaveProperty('sendCommand')
  expect(other).toBe(one)
})

const classOf = (one: object): object => Object.getPrototypeOf(one) as object
