import { describe, expect, onTestFinished, test } from 'vitest'
import { everythingLicensed } from '#test/support/everything-licensed.ts'
import { builtInRoles, permissions } from '#access/permissions.ts'
import { apiKey, createWorld, sessionOf } from '#test/support/api-world.ts'
import type { Answer, World } from '#test/support/api-world.ts'
import { rootKey } from '#test/support/config-world.ts'
import { persistentAdapters, useState } from '#test/support/persistent-adapters.ts'
import { valueOf } from '#test/support/store-values.ts'
import { startWholeWorld } from '#test/support/whole-world.ts'

const [, adapter] = persistentAdapters[0]!
const state = useState(adapter)
const password = 'correct horse'

const post = (world: World, bearer: string, path: string, body: unknown): Promise<Answer> =>
  world.call('POST', `/api/v1${path}`, { bearer, body })
const put = (world: World, bearer: string, path: string, body: unknown): Promise<Answer> =>
  world.call('PUT', `/api/v1${path}`, { bearer, body })
const newUser = (role: string, more: object = {}) => ({
  email: 'new@example.com',
  displayName: 'New',
  password,
  role,
  ...more,
})

/** Somebody of acme who may write users and roles, and little else. */
async function clerk(world: World): Promise<string> {
  const atoms = ['user:read', 'user:write', 'user:delete', 'role:write', 'pool:read']
  const { token } = await sessionOf(world, 'acme', 'tenant_admin')
  await post(world, token, '/roles', { name: 'clerk', permissions: atoms })
  return (await sessionOf(world, 'acme', 'clerk')).token
}

describe('an account cannot grant more than it has', () => {
  const rows: readonly [string, (world: World, clerk: string) => Promise<Answer>, number][] = [
    ['a role with more', (w, c) => post(w, c, '/users', newUser('operator')), 403],
    ['their own role', (w, c) => post(w, c, '/users', newUser('clerk')), 201],
    [
      'a new role with more',
      (w, c) => post(w, c, '/roles', { name: 'x', permissions: ['pool:write'] }),
      403,
    ],
    [
      'a new role with less',
      (w, c) => post(w, c, '/roles', { name: 'x', permissions: ['pool:read'] }),
      201,
    ],
    ['more to themselves', (w, c) => put(w, c, '/users/acme-clerk', { role: 'tenant_admin' }), 403],
    [
      'a new password to one above',
      (w, c) => put(w, c, '/users/acme-tenant_admin', { password }),
      403,
    ],
    ['a change of a built-in role', (w, c) => put(w, c, '/roles/viewer', { permissions: [] }), 403],
    [
      'an account of another tenant',
      (w, c) => post(w, c, '/users', newUser('clerk', { tenantId: 'default' })),
      403,
    ],
  ]
  test.each(rows)('%s', async (_what, act, status) => {
    const world = await createWorld(state())
    expect((await act(world, await clerk(world))).status).toBe(status)
  })

  test('a tenant_admin of the tenant default is made by system administrators only', async () => {
    const world = await createWorld(state())
    const { token: admin } = await sessionOf(world, 'default', 'tenant_admin')
    const all = builtInRoles.tenant_admin
    await post(world, admin, '/roles', { name: 'nearly', permissions: all })
    const { token } = await sessionOf(world, 'default', 'nearly')
    expect((await post(world, token, '/users', newUser('tenant_admin'))).status).toBe(403)
    expect((await post(world, token, '/users', newUser('viewer'))).status).toBe(201)
    expect((await put(world, token, '/users/default-tenant_admin', { password })).status).toBe(403)
  })
})

describe('accounts', () => {
  test('cannot delete themselves', async () => {
    const world = await createWorld(state())
    const { token, userId } = await sessionOf(world, 'acme', 'tenant_admin')
    const answer = await world.call('DELETE', `/api/v1/users/${userId}`, { bearer: token })
    expect(answer).toMatchObject({
      status: 403,
      body: { error: 'nobody can delete their own account' },
    })
  })

  test("keep a system administrator's role while there is no other", async () => {
    const world = await createWorld(state())
    const { token, userId } = await sessionOf(world, 'default', 'tenant_admin')
    await sessionOf(world, 'acme', 'tenant_admin')
    const asViewer = (bearer: string, id = userId) =>
      put(world, bearer, `/users/${id}`, { role: 'viewer' })
    const last = /^role: this is the last system administrator; first give another account/
    expect(await asViewer(token)).toMatchObject({
      status: 409,
      body: { error: expect.stringMatching(last) as string },
    })
    const same = { role: 'tenant_admin', displayName: 'Ann' }
    expect((await put(world, token, `/users/${userId}`, same)).status).toBe(200)
    const second = await post(world, token, '/users', newUser('tenant_admin'))
    expect(second.status).toBe(201)
    expect((await asViewer(token)).body).toMatchObject({ role: 'viewer' })
    // The system key may take the role from the last one: it can make another one.
    expect((await asViewer(apiKey, (second.body as { id: string }).id)).status).toBe(200)
  })

  test('can be deleted by other system administrators while one is left', async () => {
    const world = await createWorld(state())
    const { users } = state()
    const ann = await sessionOf(world, 'default', 'tenant_admin')
    const remove = (bearer: string) => world.call('DELETE', `/api/v1/users/${bob}`, { bearer })
    const made = await post(world, ann.token, '/users', newUser('tenant_admin'))
    const bob = (made.body as { id: string }).id
    // Another node takes the role of who deletes here, which this node will notice in 5 seconds.
    await valueOf(users.update('every-tenant', ann.userId, { role: 'viewer', updatedAtMs: 1 }))
    expect(await remove(ann.token)).toMatchObject({
      status: 409,
      body: { error: expect.stringMatching(/^this is the last system administrator;/) as string },
    })
    expect((await remove(apiKey)).status).toBe(204)
  })

  test('have an address of their own in all tenants, and nobody learns whose', async () => {
    const world = await createWorld(state())
    const acme = await sessionOf(world, 'acme', 'tenant_admin')
    const other = await sessionOf(world, 'other', 'tenant_admin')
    expect((await post(world, acme.token, '/users', newUser('viewer'))).status).toBe(201)
    const again = newUser('viewer', { email: 'NEW@example.com' })
    expect(await post(world, other.token, '/users', again)).toMatchObject({
      status: 409,
      text: '{"error":"email: is in use"}',
    })
    const elsewhere = newUser('viewer', { tenantId: 'other' })
    expect(await post(world, acme.token, '/users', elsewhere)).toMatchObject({
      status: 403,
      body: { error: expect.stringContaining('system administrator') as string },
    })
  })

  test('can be made in every tenant by a system administrator', async () => {
    const world = await createWorld(state())
    const unknown = newUser('viewer', { tenantId: 'nowhere' })
    expect(await post(world, apiKey, '/users', unknown)).toMatchObject({
      status: 400,
      body: { error: 'tenantId: there is no such tenant' },
    })
    await post(world, apiKey, '/tenants', { name: 'acme' })
    const made = await post(world, apiKey, '/users', newUser('viewer', { tenantId: 'acme' }))
    expect(made).toMatchObject({ status: 201, body: { tenantId: 'acme' } })
  })

  test('have a role that exists', async () => {
    const world = await createWorld(state())
    expect(await post(world, apiKey, '/users', newUser('viewr'))).toMatchObject({
      status: 400,
      body: { error: 'role: there is no such role' },
    })
  })
})

test('a new tenant gets nothing that a deleted one of its id left', async () => {
  const { world, bearerOf, stop } = await startWholeWorld()
  onTestFinished(stop)
  const asRoot = (method: string, path: string, body?: unknown) =>
    world.call(rootKey, method, path, body)
  const again = () => asRoot('POST', '/tenants', { name: 'zenith' })
  const admin = await bearerOf('zenith tenant_admin')
  const pool = await world.call(admin, 'POST', '/pools', { name: 'east' })
  const role = await world.call(admin, 'POST', '/roles', { name: 'auditor', permissions: [] })
  expect([pool.status, role.status]).toEqual([201, 201])
  expect((await asRoot('DELETE', '/tenants/zenith')).status).toBe(204)
  expect((await world.call(admin, 'GET', '/pools')).status).toBe(401)

  const remains = [
    ['objects of the configuration (1)', `/pools/${pool.body.id}`],
    ['roles (1)', `/roles/${role.body.id}`],
    ['accounts (1)', '/users/zenith-tenant_admin'],
  ] as const
  for (const [what, path] of remains) {
    const refused = await again()
    expect([refused.status, refused.body.error]).toEqual([409, expect.stringContaining(what)])
    expect((await asRoot('DELETE', path)).status).toBe(204)
  }
  expect(await again()).toMatchObject({
    status: 201,
    text: expect.stringContaining('"id":"zenith"') as string,
  })
})

describe('roles', () => {
  test('built in cannot be deleted, those in use neither', async () => {
    const world = await createWorld(state())
    await clerk(world)
    const { token } = await sessionOf(world, 'acme', 'tenant_admin')
    const list = (await world.call('GET', '/api/v1/roles', { bearer: token })).body
    const roles = list as readonly { id: string; name: string; isSystem: boolean }[]
    expect(roles.filter(({ isSystem }) => isSystem)).toHaveLength(3)
    for (const { id, isSystem } of roles) {
      const answer = await world.call('DELETE', `/api/v1/roles/${id}`, { bearer: token })
      expect(answer.status).toBe(isSystem ? 403 : 409)
    }
  })

  test('in use are told with who has them, to those who may see accounts', async () => {
    const world = await createWorld(state())
    const seer = await clerk(world)
    const { token } = await sessionOf(world, 'acme', 'tenant_admin')
    const atoms = { name: 'roler', permissions: ['role:write', 'user:write'] }
    const made = await post(world, token, '/roles', { name: 'held', permissions: [] })
    await post(world, token, '/roles', atoms)
    const unseeing = (await sessionOf(world, 'acme', 'roler')).token
    const remove = async (bearer: string): Promise<unknown> => {
      const { id } = made.body as { readonly id: string }
      const { status, body } = await world.call('DELETE', `/api/v1/roles/${id}`, { bearer })
      return [status, body]
    }
    const said = 'accounts have this role; give them another one first'
    for (let i = 1; i <= 7; i++) {
      const user = newUser('held', { email: `held-${i}@example.com` })
      expect((await post(world, token, '/users', user)).status).toBe(201)
      const named = Array.from({ length: Math.min(i, 5) }, (_, k) => `held-${k + 1}@example.com`)
      const rest = i > 5 ? [`${i - 5} more`] : []
      const all = [...named, ...rest].join(', ')
      if (i % 3 !== 1) continue
      expect(await remove(seer)).toEqual([409, { error: `${said}: ${all}` }])
    }
    expect(await remove(unseeing)).toEqual([409, { error: said }])
  })

  test('name a permission that does not exist', async () => {
    const world = await createWorld(state())
    const body = { name: 'x', permissions: ['pool:read', 'pool:rite'] }
    expect(await post(world, apiKey, '/roles', body)).toMatchObject({
      status: 400,
      body: { error: 'permissions.1: there is no such permission; did you mean "pool:write"?' },
    })
  })

  test('need the tier that has them', async () => {
    const refusal = () => 'custom roles need the enterprise tier'
    const licence = { ...everythingLicensed, refusal }
    const world = await createWorld(state(), { licence })
    const body = { name: 'x', permissions: [] }
    expect(await post(world, apiKey, '/roles', body)).toMatchObject({
      status: 403,
      body: { error: 'custom roles need the enterprise tier' },
    })
  })
})

describe('the built-in roles', () => {
  test('have the permissions of the built-in table', () => {
    const { tenant_admin: admin, operator, viewer } = builtInRoles
    for (const name of ['redirect', 'txt', 'tsig', 'rollout', 'maintenance']) {
      expect(admin).toEqual(expect.arrayContaining([`${name}:read`, `${name}:write`]))
      expect(operator).toEqual(expect.arrayContaining([`${name}:read`, `${name}:write`]))
      expect(viewer).toContain(`${name}:read`)
      expect(viewer).not.toContain(`${name}:write`)
    }
    for (const role of [admin, operator, viewer]) expect(role).toContain('license:read')
    expect([admin, operator, viewer].map((role) => role.includes('license:write'))).toEqual([
      true,
      false,
      false,
    ])
    expect(operator).toContain('user:read')
    expect(operator).not.toContain('user:write')
    expect(viewer).not.toContain('user:read')
  })

  test('never reach beyond their tenant, and a viewer changes nothing', () => {
    for (const role of Object.values(builtInRoles)) {
      expect(role.filter((atom) => atom.startsWith('tenant:'))).toEqual([])
      expect(role).not.toContain('usage:read_any')
    }
    const changing = builtInRoles.viewer.filter((atom) => /:(write|delete|restart)$/.test(atom))
    expect(changing).toEqual([])
    expect(new Set(permissions).size).toBe(permissions.length)
  })
})

test('every call that changes something is audited, and no other', async () => {
  const world = await createWorld(state())
  await world.call('GET', '/api/v1/health')
  await world.call('GET', '/api/v1/users', { bearer: apiKey })
  await post(world, apiKey, '/roles?secret=1', { name: 'x', permissions: [] })
  await post(world, apiKey, '/roles', { name: 'x', permissions: [] })
  await world.call('DELETE', '/api/v1/roles/nothing')
  const { token } = await sessionOf(world, 'acme', 'viewer')
  await post(world, token, '/roles', { name: 'y', permissions: [] })
  const seen = world.audit.map(({ method, path, actor, status, tenantId }) =>
    [method, path, actor, status, tenantId].join(' '),
  )
  expect(seen).toEqual([
    'POST /api/v1/roles bbbb 400 default',
    'POST /api/v1/roles bbbb 201 default',
    'DELETE /api/v1/roles/nothing anon 401 default',
    `POST /api/v1/roles ${token.slice(-4)} 403 acme`,
  ])
})
