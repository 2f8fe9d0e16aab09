import { afterAll, beforeAll, expect, test } from 'vitest'
import { keyOf, rootKey, startConfigWorld } from '#test/support/config-world.ts'
import type { ConfigWorld } from '#test/support/config-world.ts'

interface Network {
  readonly id: string
  readonly cidr: string
  readonly comment: string
}

let world: ConfigWorld
beforeAll(async () => {
  world = await startConfigWorld()
})
afterAll(() => world.close())

const call = (method: string, path = '', body?: unknown, headers = {}) =>
  world.call(rootKey, method, `/rrl/allowlist${path}`, body, headers)
const networks = async () => (await call('GET')).list as unknown as readonly Network[]
const file = () => world.git('show', 'main:gslb.yaml')

test('a network is added by a commit, listed, and removed by one', async () => {
  expect((await call('GET')).text).toBe('[]')
  const made = await call('POST', '', { cidr: '203.0.113.0/24', comment: 'Our resolvers' })
  const id = expect.any(String) as string
  expect([made.status, made.body]).toEqual([
    201,
    { id, cidr: '203.0.113.0/24', comment: 'Our resolvers' },
  ])
  expect(file()).toContain('cidr: 203.0.113.0/24')
  await call('POST', '', { cidr: '2001:db8::/32' })
  const both = await networks()
  expect(both.map(({ cidr, comment }) => [cidr, comment])).toEqual([
    ['203.0.113.0/24', 'Our resolvers'],
    ['2001:db8::/32', ''],
  ])
  expect((await call('DELETE', `/${both[0]!.id}`)).status).toBe(204)
  expect((await networks()).map(({ cidr }) => cidr)).toEqual(['2001:db8::/32'])
  expect(file()).not.toContain('203.0.113.0/24')
})

test('a network that is there already is refused, and so is what is none', async () => {
  await call('POST', '', { cidr: '198.51.100.0/24' })
  expect((await call('POST', '', { cidr: '198.51.100.0/24' })).status).toBe(409)
  for (const cidr of ['198.51.100.1/24', '198.51.100.0', 'resolver', '::/129']) {
    const { status, text } = await call('POST', '', { cidr })
    expect([cidr, status]).toEqual([cidr, 400])
    expect(text).toContain('cidr')
  }
  expect((await call('POST', '', {})).status).toBe(400)
  expect((await call('DELETE', '/none')).status).toBe(404)
})

test('a network that has changed since is not removed', async () => {
  const made = await call('POST', '', { cidr: '192.0.2.0/24' })
  const { id } = made.body as unknown as Network
  const old = { 'if-match': '"another"' }
  expect((await call('DELETE', `/${id}`, undefined, old)).status).toBe(412)
  expect((await call('DELETE', `/${id}`)).status).toBe(204)
})

test('the list holds for all tenants: none of them writes it', async () => {
  for (const [method, path, body] of [
    ['POST', '/rrl/allowlist', { cidr: '192.0.2.0/24' }],
    ['DELETE', '/rrl/allowlist/x', undefined],
  ] as const) {
    expect((await world.call(keyOf('acme'), method, path, body)).status).toBe(403)
  }
})
