// Names in the place of ids: in paths, in references and in `?name=` of lists.
import { afterAll, beforeAll, expect, test } from 'vitest'
import { keyOf, rootKey, startConfigWorld } from '#test/support/config-world.ts'
import type { ConfigWorld } from '#test/support/config-world.ts'

const acme = keyOf('acme')
const zenith = keyOf('zenith')
let world: ConfigWorld
/** Ids of the pools `web` and `spare` of acme. */
let web = ''
let spare = ''
const call: ConfigWorld['call'] = (...args) => world.call(...args)

beforeAll(async () => {
  world = await startConfigWorld()
  web = (await call(acme, 'POST', '/pools', { name: 'web' })).body.id
  spare = (await call(acme, 'POST', '/pools', { name: 'spare' })).body.id
  const service = { name: 'www', domain: 'www.example.com.', poolId: 'web' }
  expect(await call(acme, 'POST', '/services', service)).toMatchObject({
    status: 201,
    body: { poolId: web },
  })
})
afterAll(() => world.close())

test('a name stands where an id does, for whoever sees the object', async () => {
  for (const by of [acme, rootKey]) {
    expect(await call(by, 'GET', '/pools/web')).toMatchObject({ status: 200, body: { id: web } })
  }
  const member = { ipAddress: '192.0.2.1', port: 80 }
  const made = await call(acme, 'POST', '/pools/web/members', member)
  expect(made.body.poolId).toBe(web)
  expect((await call(acme, 'GET', '/pools/web/members')).list).toHaveLength(1)
  expect(await call(acme, 'GET', '/pools/web/status')).toMatchObject({ body: { poolId: web } })
  const patched = await call(acme, 'PATCH', '/services/www', { poolId: 'spare' })
  expect(patched.body.poolId).toBe(spare)
  expect((await call(acme, 'PATCH', '/services/www', { poolId: 'web' })).body.poolId).toBe(web)
  expect((await call(zenith, 'GET', '/pools/web')).status).toBe(404)
  expect((await call(zenith, 'GET', '/services/www')).status).toBe(404)
  const stolen = { name: 'z', domain: 'z.example.com.', poolId: 'web' }
  expect((await call(zenith, 'POST', '/services', stolen)).status).toBe(400)
})

test('an id wins over a name that looks like it', async () => {
  const made = await call(acme, 'POST', '/pools', { name: web })
  expect(made.status).toBe(201)
  expect((await call(acme, 'GET', `/pools/${web}`)).body).toMatchObject({ id: web, name: 'web' })
  expect((await call(acme, 'DELETE', `/pools/${made.body.id}`)).status).toBe(204)
})

test('a window takes the name of a pool, and keeps the id', async () => {
  const times = { startAt: '2030-01-01T00:00:00Z', endAt: '2030-01-02T00:00:00Z' }
  const body = { resourceType: 'pool', resourceId: 'web', ...times }
  const made = await call(acme, 'POST', '/maintenance-windows', body)
  expect(made).toMatchObject({ status: 201, body: { resourceId: web } })
})

test('a name that two tenants have is no reference for who sees both', async () => {
  const { control } = world
  for (const tenant of ['acme', 'zenith']) {
    const spec = { sourceFqdn: `${tenant}.example.com`, targetUrl: 'https://new.example.com/' }
    const done = await control.write({
      requestId: 'r',
      actor: { name: 'ann', address: 'ann@example.com' },
      operations: [{ verb: 'create', kind: 'Redirect', tenant, name: 'same', spec }],
    })
    expect(done).toMatchObject({ ok: true })
  }
  expect((await call(rootKey, 'DELETE', '/redirects/same')).status).toBe(404)
  expect((await call(acme, 'DELETE', '/redirects/same')).status).toBe(204)
  expect((await call(rootKey, 'DELETE', '/redirects/same')).status).toBe(204)
})

test('lists are narrowed to a name', async () => {
  const names = async (path: string) => (await call(acme, 'GET', path)).list.map(({ name }) => name)
  expect(await names('/pools?name=web')).toEqual(['web'])
  expect(await names('/pools?name=web&limit=1')).toEqual(['web'])
  expect(await names('/pools?name=we')).toEqual([])
  expect(await names('/services?name=www')).toEqual(['www'])
  expect((await call(zenith, 'GET', '/pools?name=web')).list).toEqual([])
  expect((await call(rootKey, 'GET', '/tenants?name=nobody')).list).toEqual([])
  for (const path of ['rollouts', 'maintenance-windows', 'domains', 'redirects', 'records']) {
    expect(await names(`/${path}?name=nothing`), path).toEqual([])
  }
  const refused = await call(acme, 'GET', '/pools?nam=web')
  expect(refused.body.error).toContain('did you mean "name"?')
})

test('a body that says `pool` is told of `poolId`', async () => {
  const body = { name: 'x', domain: 'x.example.com.', pool: 'web' }
  const refused = await call(acme, 'POST', '/services', body)
  expect(refused.status).toBe(400)
  expect(refused.body.error).toBe('pool: there is no such field; did you mean "poolId"?')
})
