import { afterAll, beforeAll, describe, expect, onTestFinished, test } from 'vitest'
import { everythingLicensed } from '#test/support/everything-licensed.ts'
import type { MemberLimit } from '#licence/gate.ts'
import { keyOf, rootKey, startConfigWorld } from '#test/support/config-world.ts'
import type { ConfigWorld } from '#test/support/config-world.ts'

const acme = keyOf('acme')
const zenith = keyOf('zenith')
let most: MemberLimit | undefined
const licence = { ...everythingLicensed, memberLimit: () => most }

let world: ConfigWorld
let pool: string
beforeAll(async () => {
  world = await startConfigWorld({ ports: { licence } })
  pool = (await call(acme, 'POST', '/pools', { name: 'web' })).body.id
})
afterAll(() => world.close())

const call: ConfigWorld['call'] = (...args) => world.call(...args)
const noSuchId = '01976c1e-7e5c-7000-8000-00000000ffff'

let host = 0
/** A member with an address of its own. */
async function add(fields: object = {}) {
  const body = { ipAddress: `192.0.2.${++host}`, port: 80, ...fields }
  return call(acme, 'POST', `/pools/${pool}/members`, body)
}

describe('members', () => {
  test('a list is empty before there is one, and 404 below an unknown pool', async () => {
    const { body } = await call(acme, 'POST', '/pools', { name: 'empty' })
    expect((await call(acme, 'GET', `/pools/${body.id}/members`)).text).toBe('[]')
    expect((await call(acme, 'GET', `/pools/${noSuchId}/members`)).status).toBe(404)
    const sent = { ipAddress: '192.0.2.250', port: 80 }
    expect((await call(acme, 'POST', `/pools/${noSuchId}/members`, sent)).status).toBe(404)
  })

  test('at addresses of the node are given a tenant by system administrators alone', async () => {
    const { body } = await call(acme, 'POST', '/pools', { name: 'local' })
    const path = `/pools/${body.id}/members`
    const at = (by: string, ipAddress: string) => call(by, 'POST', path, { ipAddress, port: 80 })
    for (const address of ['127.0.0.1', '169.254.169.254', '::1', '64:ff9b::7f00:1']) {
      const answer = await at(acme, address)
      expect([answer.status, answer.body.error]).toEqual([
        403,
        expect.stringMatching(`^ipAddress: ${address} is of the node itself`),
      ])
    }
    expect((await at(rootKey, '127.0.0.1')).status).toBe(201)
    // What is there stays, and does not stand in the way of others.
    const other = await at(acme, '192.0.2.200')
    expect(other.status).toBe(201)
    const moved = await call(acme, 'PATCH', `/members/${other.body.id}`, { ipAddress: '127.0.0.2' })
    expect(moved.status).toBe(403)
  })

  test('have defaults for fields left out', async () => {
    const made = await call(acme, 'POST', `/pools/${pool}/members`, {
      ipAddress: '2001:DB8::1',
      port: 8080,
    })
    expect(made).toMatchObject({ status: 201, headers: { etag: expect.any(String) as string } })
    expect(made.body).toEqual({
      id: expect.any(String) as string,
      poolId: pool,
      name: '',
      ipAddress: '2001:db8::1',
      port: 8080,
      weight: 1,
      priority: 0,
      enabled: true,
      region: 'unknown',
      ...{ provider: '', site: '', capacity: 100 },
      warmupThreshold: 0,
      rumUrl: '',
      externalSignalMode: 'and',
      declaredWeight: 1,
      declaredEnabled: true,
      heldBy: null,
    })
    expect((await call(acme, 'GET', `/members/${made.body.id}`)).body).toEqual(made.body)
    expect((await call(acme, 'GET', `/pools/${pool}/members`)).list).toContainEqual(made.body)
  })

  const taken = (sent: number, least: number) =>
    `1, "weight: ${sent} is taken as ${least}, the least that it may be here";code=weight-too-small`

  test.each([
    [-5, 1, taken(-5, 1)],
    [0, 1, taken(0, 1)],
    [7, 7, undefined],
  ])('a new weight of %i is %i, and a warning tells it', async (sent, weight, warning) => {
    const { body, headers } = await add({ weight: sent })
    expect([body.weight, headers['x-gslb-warnings']]).toEqual([weight, warning])
  })

  test.each([
    [-5, 0, taken(-5, 0)],
    [0, 0, undefined],
    [9, 9, undefined],
  ])('a changed weight of %i is %i', async (sent, weight, warning) => {
    const { body } = await add({ weight: 3 })
    const changed = await call(acme, 'PUT', `/members/${body.id}`, { weight: sent })
    expect(changed).toMatchObject({
      status: 200,
      body: { ...body, weight, declaredWeight: weight },
    })
    expect(changed.headers['x-gslb-warnings']).toBe(warning)
  })

  test('a change touches the named fields only, and defaults can be had back', async () => {
    const fields = { name: 'eu-1', region: 'DE', priority: 2, externalSignalMode: 'or' }
    const { body } = await add(fields)
    const off = await call(acme, 'PUT', `/members/${body.id}`, { enabled: false })
    expect(off.body).toEqual({ ...body, enabled: false, declaredEnabled: false })
    const back = { enabled: true, name: '', region: '', priority: 0, externalSignalMode: 'and' }
    const reset = await call(acme, 'PUT', `/members/${body.id}`, back)
    expect(reset.body).toEqual({ ...body, ...back, region: 'unknown' })
    const nothing = await call(acme, 'PUT', `/members/${body.id}`, {})
    expect(nothing.headers['x-gslb-revision']).toBe(reset.headers['x-gslb-revision'])
  })

  test('a change names the values that a field can have, and no empty one', async () => {
    const body = { externalSignalMode: 'x' }
    const { id } = (await add()).body
    const answer = await call(acme, 'PATCH', `/members/${id}`, body)
    expect(answer.body.error).toBe(
      'externalSignalMode: must be one of and, or, override, not this text of 1 character',
    )
  })

  test.each([
    [{ ipAddress: '300.1.1.1', port: 80 }, 'ipAddress: '],
    [{ ipAddress: 'example.com', port: 80 }, 'ipAddress: '],
    [{ ipAddress: '', port: 80 }, 'ipAddress: '],
    [{ port: 80 }, 'ipAddress: is required'],
    [{ ipAddress: '192.0.2.200' }, 'port: is required'],
    [{ ipAddress: '192.0.2.200', port: 0 }, 'port: must be a whole number from 1 to 65535'],
    [{ ipAddress: '192.0.2.200', port: 65_536 }, 'port: '],
    [{ ipAddress: '192.0.2.200', port: '80' }, 'port: '],
    [
      { ipAddress: '192.0.2.200', port: 80, weight: 1.5 },
      'weight: must be a whole number from 1 to 1000000',
    ],
    [{ ipAddress: '192.0.2.200', port: 80, priority: -1 }, 'priority: '],
    [{ ipAddress: '192.0.2.200', port: 80, rumUrl: 'ftp://x/' }, 'rumUrl: '],
    [
      { ipAddress: '192.0.2.200', port: 80, externalSignalMode: 'x' },
      'externalSignalMode: must be one of and, or, override, not this text of 1 character',
    ],
    [
      { ipAddress: '192.0.2.200', port: 80, externalSignalMode: 'overide' },
      'not this text of 7 characters; did you mean "override"?',
    ],
    [{ ipAddress: '192.0.2.200', port: 80, enabled: false }, 'enabled: there is no such field'],
  ])('%j is refused by field and reason', async (body, sentence) => {
    const answer = await call(acme, 'POST', `/pools/${pool}/members`, body)
    expect(answer.body.error).toContain(sentence)
    expect(answer.status).toBe(400)
  })

  test('address and port are its identity: a change does not take them', async () => {
    const { body } = await add()
    const answer = await call(acme, 'PUT', `/members/${body.id}`, { port: 81 })
    expect(answer.body.error).toContain('port: there is no such field')
  })

  test('the same address and port twice in a pool is a conflict', async () => {
    const { body } = await add()
    const { ipAddress, port } = body
    const again = await call(acme, 'POST', `/pools/${pool}/members`, { ipAddress, port })
    const error = `ipAddress: the member ${ipAddress} port ${port} is listed twice.`
    expect(again).toMatchObject({ status: 409, body: { error } })
  })

  test('deleted, it is gone', async () => {
    const { body } = await add()
    expect((await call(acme, 'DELETE', `/members/${body.id}`)).status).toBe(204)
    expect((await call(acme, 'GET', `/members/${body.id}`)).status).toBe(404)
    expect((await call(acme, 'DELETE', `/members/${body.id}`)).status).toBe(404)
  })

  test('more than the licence permits are refused in its words', async () => {
    const { body } = await call(acme, 'POST', '/pools', { name: 'small' })
    const post = (port: number) =>
      call(acme, 'POST', `/pools/${body.id}/members`, { ipAddress: '192.0.2.1', port })
    most = { membersMax: 1, refusal: 'a pool may have 1 member' }
    onTestFinished(() => (most = undefined))
    expect((await post(80)).status).toBe(201)
    expect(await post(81)).toMatchObject({ status: 403, body: { error: most.refusal } })
  })

  test('the last one of a pool that stands in for another stays, and is told where', async () => {
    const pools = await Promise.all(
      ['spare', 'main'].map((name) => call(acme, 'POST', '/pools', { name })),
    )
    const [spare, main] = pools.map(({ body }) => body.id)
    const sent = { ipAddress: '192.0.2.240', port: 80 }
    const member = await call(acme, 'POST', `/pools/${spare}/members`, sent)
    await call(acme, 'POST', `/pools/${main}/members`, { ...sent, port: 81 })
    const served = { name: 'spared', domain: 'spared.example.com.', onAllDown: 'pool:spare' }
    const service = await call(acme, 'POST', '/services', { ...served, poolId: main })
    expect(service.status).toBe(201)
    const path = `/members/${member.body.id}`
    expect(await call(acme, 'DELETE', path)).toMatchObject({
      status: 409,
      body: {
        error: expect.stringMatching(
          /^Service "spared" \(tenants\/acme\/services\/spared\.yaml, line \d+\) would no longer/,
        ) as string,
      },
    })
    expect((await call(acme, 'GET', path)).status).toBe(200)
    expect((await call(acme, 'DELETE', `/services/${service.body.id}`)).status).toBe(204)
    expect((await call(acme, 'DELETE', path)).status).toBe(204)
  })

  test("another tenant's member does not exist", async () => {
    const { body } = await add()
    for (const [method, sent] of [['GET'], ['PUT', { weight: 2 }], ['DELETE']] as const) {
      const answer = await call(zenith, method, `/members/${body.id}`, sent)
      expect(answer).toMatchObject({ status: 404, body: { error: 'there is no such member' } })
    }
  })

  test('If-Match is for the state of the member', async () => {
    const made = await add()
    const path = `/members/${made.body.id}`
    const tag = { 'if-match': made.headers['etag'] ?? '' }
    expect((await call(acme, 'PUT', path, { weight: 2 }, tag)).status).toBe(200)
    expect((await call(acme, 'PUT', path, { weight: 3 }, tag)).status).toBe(412)
    expect((await call(acme, 'GET', path)).body.weight).toBe(2)
  })

  test('pages keep the order of the file', async () => {
    const whole = (await call(acme, 'GET', `/pools/${pool}/members`)).list
    const first = await call(acme, 'GET', `/pools/${pool}/members?limit=3`)
    const cursor = first.headers['x-next-cursor'] ?? ''
    const second = await call(acme, 'GET', `/pools/${pool}/members?limit=3&cursor=${cursor}`)
    expect([...first.list, ...second.list]).toEqual(whole.slice(0, 6))
  })
})
