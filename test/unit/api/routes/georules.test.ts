import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { everythingLicensed } from '#test/support/everything-licensed.ts'
import { keyOf, startConfigWorld } from '#test/support/config-world.ts'
import type { ConfigWorld } from '#test/support/config-world.ts'

const acme = keyOf('acme')
const zenith = keyOf('zenith')
const noSuchId = '01976c1e-7e5c-7000-8000-00000000ffff'
let isLicensed = true
const sentence = 'geo rules need the tier pro'
const licence = { ...everythingLicensed, refusal: () => (isLicensed ? undefined : sentence) }
let world: ConfigWorld
let rules: string
let member: string
beforeAll(async () => {
  world = await startConfigWorld({ ports: { licence } })
  const { body } = await call(acme, 'POST', '/pools', { name: 'web' })
  rules = `/pools/${body.id}/georules`
  const sent = { ipAddress: '192.0.2.1', port: 80 }
  member = (await call(acme, 'POST', `/pools/${body.id}/members`, sent)).body.id
  await call(acme, 'POST', `/pools/${body.id}/members`, { ipAddress: '2001:db8::2', port: 80 })
})
afterAll(() => world.close())

const call: ConfigWorld['call'] = (...args) => world.call(...args)

let third = 0
const fresh = () => ({ cidr: `198.51.${++third}.0/24`, endpoint: '192.0.2.1' })

describe('geo rules', () => {
  test('a list is empty before there is one, and 404 below an unknown pool', async () => {
    expect((await call(acme, 'GET', rules)).text).toBe('[]')
    expect((await call(acme, 'GET', `/pools/${noSuchId}/georules`)).status).toBe(404)
    expect((await call(acme, 'POST', `/pools/${noSuchId}/georules`, fresh())).status).toBe(404)
  })

  test('the priority is 100 unless it is sent; times are seconds', async () => {
    const sent = { cidr: '2001:db8:1::/48', endpoint: '2001:DB8::2' }
    const made = await call(acme, 'POST', rules, sent)
    const seconds = Math.floor(Date.now() / 1000)
    expect(made).toMatchObject({ status: 201 })
    expect(made.body).toMatchObject({ ...sent, endpoint: '2001:db8::2', priority: 100 })
    expect(made.body.createdAt).toBeGreaterThan(seconds - 60)
    expect(made.body.createdAt).toBeLessThanOrEqual(seconds)
    expect(made.body.updatedAt).toBe(made.body.createdAt)
    expect((await call(acme, 'GET', rules)).list).toContainEqual(made.body)
  })

  test.each([
    ['192.0.2.7/24', '192.0.2.0/24'],
    ['2001:DB8:5::7/64', '2001:db8:5::/64'],
    ['10.9.8.7/0', '0.0.0.0/0'],
  ])('the address of a host, %s, stands for its network', async (cidr, normal) => {
    const made = await call(acme, 'POST', rules, { cidr, endpoint: '192.0.2.1' })
    expect(made).toMatchObject({ status: 201, body: { cidr: normal } })
    const path = `/georules/${made.body.id}`
    const sent = { cidr, endpoint: '192.0.2.1', priority: 100 }
    const same = await call(acme, 'PUT', path, sent)
    expect([same.status, same.body]).toEqual([200, made.body])
    expect(same.headers['x-gslb-revision']).toBe(made.headers['x-gslb-revision'])
    expect((await call(acme, 'DELETE', path)).status).toBe(204)
  })

  test('a change keeps id and creation; the same again makes no commit', async () => {
    const { body } = await call(acme, 'POST', rules, fresh())
    const next = { ...fresh(), priority: 5 }
    const changed = await call(acme, 'PUT', `/georules/${body.id}`, next)
    expect(changed.body).toMatchObject({ id: body.id, createdAt: body.createdAt, ...next })
    const again = await call(acme, 'PUT', `/georules/${body.id}`, next)
    expect(again.body).toEqual(changed.body)
    expect(again.headers['x-gslb-revision']).toBe(changed.headers['x-gslb-revision'])
  })

  test.each([
    [{ endpoint: '192.0.2.1' }, 'cidr: is required'],
    [{ cidr: '198.51.100.0/33', endpoint: '192.0.2.1' }, 'cidr: '],
    [{ cidr: 'here', endpoint: '192.0.2.1' }, 'cidr: '],
    [{ cidr: '203.0.113.0/24' }, 'endpoint: is required'],
    [{ cidr: '203.0.113.0/24', endpoint: 'web-1' }, 'endpoint: '],
    [{ cidr: '203.0.113.0/24', endpoint: '192.0.2.99' }, 'endpoint: '],
    [{ cidr: '203.0.113.0/24', endpoint: '192.0.2.1', priority: 1.5 }, 'priority: '],
  ])('%j is refused by field and reason', async (body, sentence) => {
    const answer = await call(acme, 'POST', rules, body)
    expect(answer.body.error).toContain(sentence)
    expect(answer.status).toBe(400)
  })

  test.each(['cidr', 'endpoint', 'priority'])('a change without %s is refused', async (name) => {
    const { body } = await call(acme, 'POST', rules, fresh())
    const sent = { ...fresh(), priority: 1, [name]: undefined }
    const answer = await call(acme, 'PUT', `/georules/${body.id}`, sent)
    expect(answer).toMatchObject({ status: 400, body: { error: `${name}: is required` } })
  })

  test('the licence decides over changes, not over reads and deletions', async () => {
    const { body } = await call(acme, 'POST', rules, fresh())
    isLicensed = false
    try {
      expect((await call(acme, 'POST', rules, fresh())).status).toBe(403)
      const sent = { ...fresh(), priority: 1 }
      const answer = await call(acme, 'PUT', `/georules/${body.id}`, sent)
      expect(answer).toMatchObject({ status: 403, body: { error: sentence } })
      expect((await call(acme, 'GET', rules)).status).toBe(200)
      expect((await call(acme, 'DELETE', `/georules/${body.id}`)).status).toBe(204)
      expect((await call(acme, 'DELETE', `/georules/${body.id}`)).status).toBe(404)
    } finally {
      isLicensed = true
    }
  })

  test("another tenant's rules do not exist", async () => {
    const { body } = await call(acme, 'POST', rules, fresh())
    const sent = { ...fresh(), priority: 1 }
    expect((await call(zenith, 'GET', rules)).status).toBe(404)
    expect((await call(zenith, 'POST', rules, fresh())).status).toBe(404)
    expect((await call(zenith, 'PUT', `/georules/${body.id}`, sent)).status).toBe(404)
    expect((await call(zenith, 'DELETE', `/georules/${body.id}`)).status).toBe(404)
  })

  test('the rules of a member go with it', async () => {
    await call(acme, 'POST', rules, fresh())
    await call(acme, 'DELETE', `/members/${member}`)
    const left = (await call(acme, 'GET', rules)).list
    expect(left.map(({ endpoint }) => endpoint)).not.toContain('192.0.2.1')
  })
})
