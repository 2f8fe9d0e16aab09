import { describe, expect, test } from 'vitest'
import { systemKey, tokenHash } from '#access/auth/policy.ts'
import { builtInRoles } from '#access/permissions.ts'
import { devMode } from '#test/support/api-ports.ts'
import { apiKey, createWorld, memoryTenants, sessionOf, withKeys } from '#test/support/api-world.ts'
import type { World } from '#test/support/api-world.ts'
import { persistentAdapters, useState } from '#test/support/persistent-adapters.ts'
import { valueOf } from '#test/support/store-values.ts'
import { portOf } from '#test/support/port-of.ts'
import type { ApiPorts } from '#ports/ports.ts'
import { setupOrigin } from '#test/support/api-world.ts'

const [, adapter] = persistentAdapters[0]!
const state = useState(adapter)
const me = '/api/v1/auth/me'
const tenantKey = 'ab'.repeat(32)

async function worldWithTenant(): Promise<World> {
  const tenants = memoryTenants()
  await tenants.create({ id: 'acme', name: 'acme', rpsLimit: 1 }, setupOrigin)
  const world = await createWorld(state(), { tenants })
  await valueOf(world.ports.tenantKeys.put('acme', tokenHash(tenantKey), 1))
  return world
}

describe('credentials are looked at in one fixed order', () => {
  type Credential = 'none' | 'system' | 'admin' | 'user' | 'tenant' | 'junk'
  const rows: readonly [cookie: Credential, bearer: Credential, expected: string][] = [
    ['none', 'none', '401'],
    ['none', 'junk', '401'],
    ['junk', 'none', '401'],
    ['junk', 'junk', '401'],
    ['none', 'system', 'system default'],
    ['none', 'admin', 'system default'],
    ['none', 'user', 'user acme'],
    ['none', 'tenant', 'tenant acme'],
    ['user', 'none', 'user acme'],
    ['user', 'system', 'user acme'],
    ['user', 'junk', 'user acme'],
    ['admin', 'tenant', 'system default'],
    ['junk', 'system', 'system default'],
    ['junk', 'user', 'user acme'],
    // A system key or a tenant's key is no session.
    ['system', 'none', '401'],
    ['tenant', 'none', '401'],
  ]
  test.each(rows)('cookie %s, bearer %s: %s', async (cookie, bearer, expected) => {
    const world = await worldWithTenant()
    const texts: Record<Credential, string | undefined> = {
      none: undefined,
      system: apiKey,
      admin: (await sessionOf(world, 'default', 'tenant_admin')).token,
      user: (await sessionOf(world, 'acme', 'viewer')).token,
      tenant: tenantKey,
      junk: 'x'.repeat(43),
    }
    const options = Object.entries({ cookie: texts[cookie], bearer: texts[bearer] })
    const given = Object.fromEntries(options.filter(([, text]) => text !== undefined))
    const { status, body } = await world.call('GET', me, given)
    const { kind, tenantId } = body as { kind?: string; tenantId?: string }
    expect(status === 200 ? `${kind} ${tenantId}` : String(status)).toBe(expected)
  })

  test('without a system key everybody is system administrator', async () => {
    const { call } = await createWorld(state(), { auth: devMode })
    expect((await call('GET', me)).body).toMatchObject({ kind: 'dev', isSystemAdmin: true })
    expect((await call('GET', '/api/v1/users', { bearer: 'junk' })).status).toBe(200)
  })

  test('health needs nothing, whatever else is presented', async () => {
    const { call } = await createWorld(state())
    expect((await call('GET', '/api/v1/health')).status).toBe(200)
    expect((await call('GET', '/api/v1/health', { bearer: 'junk' })).status).toBe(200)
  })

  test('the system key works while the database is away', async () => {
    const failure = { ok: false, error: { code: 'store-away', message: 'no database' } } as const
    const away = portOf<ApiPorts['sessions']>('sessions', { find: async () => failure })
    const world = await createWorld(state(), { sessions: away, tenants: memoryTenants() })
    const cookie = 'y'.repeat(43)
    expect((await world.call('GET', me, { bearer: apiKey, cookie })).status).toBe(200)
    expect(await world.call('GET', me, { cookie })).toMatchObject({
      status: 503,
      headers: { 'retry-after': '5' },
      body: { error: 'this cannot be read or kept at the moment: no database' },
    })
  })

  test.each([
    ['Basic', `Basic ${apiKey}`, 401],
    ['lower case', `bearer ${apiKey}`, 200],
    ['two tokens', `Bearer ${apiKey} ${apiKey}`, 401],
    ['a part of the key', `Bearer ${apiKey.slice(1)}`, 401],
    ['the key and more', `Bearer ${apiKey}a`, 401],
    ['no token', 'Bearer ', 401],
  ])('a header with %s', async (_what, authorization, status) => {
    const { call } = await createWorld(state())
    const answer = await call('GET', me, { headers: { authorization } })
    expect(answer.status).toBe(status)
    if (status === 401) {
      expect(answer.headers['www-authenticate']).toBe('Bearer')
      expect(answer.body).toMatchObject({
        error: expect.stringMatching(
          authorization.includes(apiKey.slice(1)) && /^Bearer \S+$/.test(authorization)
            ? /is wrong or has ended: log in again, or send the header Authorization: Bearer TOKEN/
            : /^this needs a valid credential: send the header Authorization: Bearer TOKEN/,
        ) as string,
      })
    }
  })
})

describe('ended credentials are refused at once', () => {
  test('the key of a tenant that was deleted', async () => {
    const world = await worldWithTenant()
    expect((await world.call('GET', me, { bearer: tenantKey })).status).toBe(200)
    const gone = await world.call('DELETE', '/api/v1/tenants/acme', { bearer: apiKey })
    expect([gone.status, gone.text]).toEqual([204, ''])
    expect((await world.call('GET', me, { bearer: tenantKey })).status).toBe(401)
  })

  test.each(['cookie', 'bearer'])('the session of an account of that tenant, by %s', async (by) => {
    const world = await createWorld(state())
    const { token } = await sessionOf(world, 'acme', 'tenant_admin')
    const status = async () => (await world.call('GET', me, { [by]: token })).status
    expect(await status()).toBe(200)
    await world.call('DELETE', '/api/v1/tenants/acme', { bearer: apiKey })
    expect(await status()).toBe(401)
  })

  test('sessions of a user who was deleted', async () => {
    const world = await createWorld(state())
    const { token, userId } = await sessionOf(world, 'acme', 'viewer')
    expect((await world.call('GET', me, { bearer: token })).status).toBe(200)
    await world.call('DELETE', `/api/v1/users/${userId}`, { bearer: apiKey })
    expect((await world.call('GET', me, { bearer: token })).status).toBe(401)
  })

  test('a session whose time has run out', async () => {
    const auth = { ...withKeys, sessionExtend: false }
    const world = await createWorld(state(), { auth })
    const { token } = await sessionOf(world, 'acme', 'viewer')
    world.time.pass(3_599_000)
    expect((await world.call('GET', me, { bearer: token })).status).toBe(200)
    world.time.pass(2_000)
    expect((await world.call('GET', me, { bearer: token })).status).toBe(401)
  })

  test('but a session that is used lives on, and its cookie with it', async () => {
    const world = await createWorld(state())
    const { token } = await sessionOf(world, 'acme', 'viewer')
    world.time.pass(3_599_000)
    const { status, headers } = await world.call('GET', me, { cookie: token })
    expect(status).toBe(200)
    expect(headers['set-cookie']).toBe(
      `gslb_session=${token}; Max-Age=86400; Path=/; HttpOnly; SameSite=Strict`,
    )
    world.time.pass(23 * 3_600_000)
    expect((await world.call('GET', me, { bearer: token })).status).toBe(200)
  })
})

describe('a change of role counts with the next request', () => {
  test('within the same session', async () => {
    const world = await createWorld(state())
    const { token, userId } = await sessionOf(world, 'acme', 'viewer')
    const list = () => world.call('GET', '/api/v1/users', { bearer: token })
    expect(await list()).toMatchObject({
      status: 403,
      body: { error: 'permission denied: this needs user:read' },
    })
    const body = { role: 'operator' }
    const changed = await world.call('PUT', `/api/v1/users/${userId}`, { bearer: apiKey, body })
    expect(changed.status).toBe(200)
    expect((await list()).status).toBe(200)
  })

  test('also with the key of a tenant, which may do what operators may', async () => {
    const world = await worldWithTenant()
    const permitted = async () => {
      const { body } = await world.call('GET', me, { bearer: tenantKey })
      return (body as { readonly permissions: readonly string[] }).permissions
    }
    expect(await permitted()).toEqual([...builtInRoles.operator].toSorted())
    const body = { permissions: ['pool:read', 'user:read'] }
    const changed = await world.call('PUT', '/api/v1/roles/operator', { bearer: apiKey, body })
    expect(changed.status).toBe(200)
    expect(await permitted()).toEqual(['pool:read', 'user:read'])
  })
})

describe('a request that a browser sends for a page of another site', () => {
  const rows: readonly [what: string, headers: Record<string, string>, status: number][] = [
    ['says so', { 'sec-fetch-site': 'cross-site' }, 403],
    ['comes from a sister domain', { 'sec-fetch-site': 'same-site' }, 403],
    ['names its origin', { origin: 'https://evil.example' }, 403],
    ['has an opaque origin', { origin: 'null' }, 403],
    ['comes from our page', { 'sec-fetch-site': 'same-origin' }, 204],
    ['names our origin', { origin: 'http://localhost:80' }, 204],
    ['comes from no browser', {}, 204],
  ]
  test.each(rows)('and %s', async (_what, headers, status) => {
    const world = await createWorld(state())
    const { token } = await sessionOf(world, 'acme', 'viewer')
    const answer = await world.call('POST', '/api/v1/auth/logout', { cookie: token, headers })
    expect(answer.status).toBe(status)
  })

  test('is refused in dev mode and at the login, and no matter with a bearer token', async () => {
    const headers = { 'sec-fetch-site': 'cross-site' }
    const dev = await createWorld(state(), { auth: devMode })
    const body = { name: 'x', permissions: [] }
    expect((await dev.call('POST', '/api/v1/roles', { headers, body })).status).toBe(403)
    const world = await createWorld(state())
    const form = { email: 'a@example.com', password: 'password' }
    const login = await world.call('POST', '/api/v1/auth/login', { headers, body: form })
    expect(login.status).toBe(403)
    const options = { headers, body, bearer: apiKey }
    expect((await world.call('POST', '/api/v1/roles', options)).status).toBe(201)
  })
})

describe('headers of trusted proxies', () => {
  const forwarded = {
    'x-forwarded-for': '203.0.113.9',
    'x-forwarded-proto': 'https',
    'x-forwarded-host': 'gslb.example',
    origin: 'https://gslb.example',
  }
  test.each([
    ['is believed', ['127.0.0.1'], 204, '203.0.113.9'],
    ['is not believed of others', ['192.0.2.1'], 403, '127.0.0.1'],
  ])('%s', async (_what, proxies, status, remote) => {
    const world = await createWorld(state(), {}, proxies)
    const { token } = await sessionOf(world, 'acme', 'viewer')
    const options = { cookie: token, headers: forwarded }
    const answer = await world.call('POST', '/api/v1/auth/logout', options)
    expect(answer.status).toBe(status)
    expect(world.audit.at(-1)?.remote).toBe(remote)
    if (status === 204) expect(answer.headers['set-cookie']).toMatch(/; Secure/)
  })
})

test('the system key is compared through its hash, whatever is presented', () => {
  const key = systemKey('correct horse')
  const presented = ['correct horse', 'correct hors', '', 'x'.repeat(10_000), 'correct\0horse']
  expect(presented.map((text) => key.matches(text))).toEqual([true, false, false, false, false])
})
