import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { licenceExcess } from '#licence/excess.ts'
import { keyOf, rootKey, startConfigWorld } from '#test/support/config-world.ts'
import type { ConfigWorld } from '#test/support/config-world.ts'
import {
  installId,
  keeperScene,
  licenceId,
  startSeconds,
  stranger,
} from '#test/support/licences.ts'
import { day, token } from '#test/support/licences.ts'

const acme = keyOf('acme')
const scene = keeperScene()
const { keeper } = scene
let world: ConfigWorld
beforeAll(async () => {
  world = await startConfigWorld({ ports: { licence: keeper, licenceAdmin: keeper } })
})
afterAll(() => world.close())

const apply = (text: string) => world.call(rootKey, 'POST', '/license', { token: text })

describe('/api/v1/license', () => {
  test('shows the trial of a first start', async () => {
    const { status, body } = await world.call(acme, 'GET', '/license')
    expect(status).toBe(200)
    expect(body).toMatchObject({
      valid: true,
      tier: 'trial',
      maxRps: 500,
      expiresAt: startSeconds + 30 * day,
      licenseId: '',
      customerId: '',
      installId,
      status: 'trial',
      source: null,
      enforced: true,
    })
  })

  test('takes a token, which counts at once, and shows it to everybody', async () => {
    const applied = await apply(token({ tier: 'paid', maxRps: 123 }))
    expect(applied.status).toBe(200)
    const state = { valid: true, tier: 'paid', maxRps: 123, licenseId: licenceId, source: 'api' }
    expect(applied.body).toMatchObject({ ...state, customerId: 'acme' })
    expect((await world.call(acme, 'GET', '/license')).body).toEqual(applied.body)
    expect(scene.told.at(-1)).toBe(123)
  })

  test.each([
    ['a token by another key', token({}, stranger.privateKey)],
    ['one that is over', token({ exp: startSeconds - 60 })],
    ['one for another installation', token({ iid: 'elsewhere' })],
    ['one without an id', token({ id: '' })],
    ['a JWT without an algorithm', 'eyJhbGciOiJub25lIn0.eyJ0aWVyIjoicHJvIn0.'],
    ['nothing', ''],
  ])('refuses %s by field and reason, and changes nothing', async (_name, text) => {
    const before = (await world.call(acme, 'GET', '/license')).body
    const { status, body } = await apply(text)
    expect(status).toBe(400)
    expect(body.error).toMatch(/^token: /)
    expect((await world.call(acme, 'GET', '/license')).body).toEqual(before)
  })

  test.each<[string, unknown]>([
    ['nothing', undefined],
    ['no token', {}],
    ['a number', { token: 7 }],
    ['another field', { token: token(), tier: 'pro' }],
    ['5,000 characters', { token: 'x'.repeat(5_000) }],
  ])('refuses %s', async (_name, body) => {
    expect((await world.call(rootKey, 'POST', '/license', body)).status).toBe(400)
  })

  test('waits for no database that is being made', async () => {
    const before = keeperScene()
    before.memory.isStarting = true
    // It would not come.
    Object.assign(before.memory.store, { load: () => new Promise(() => undefined) })
    const world = await startConfigWorld({
      ports: { licence: before.keeper, licenceAdmin: before.keeper },
    })
    const refused = await world.call(rootKey, 'POST', '/license', { token: token() })
    expect([refused.status, refused.headers['retry-after']]).toEqual([503, '2'])
    expect(refused.body.error).toMatch(/^the database is being made;/)
    expect((await world.call(acme, 'GET', '/license')).status).toBe(200)
    await world.close()
  })

  test('says that the database is away, and goes on with what it knows', async () => {
    scene.memory.isAway = true
    const refused = await apply(token())
    expect([refused.status, refused.headers['retry-after']]).toEqual([503, '5'])
    expect((await world.call(acme, 'GET', '/license')).body).toMatchObject({ tier: 'paid' })
    scene.memory.isAway = false
  })
})

describe('a tier', () => {
  const member = (n: number) => ({ ipAddress: `192.0.2.${n}`, port: 80 })

  test.each([
    ['free', 3],
    ['paid', 10],
  ] as const)('%s permits %i members in a pool, whoever adds them', async (tier, most) => {
    await apply(token({ tier }))
    const { id } = (await world.call(acme, 'POST', '/pools', { name: `pool-${tier}` })).body
    const add = (n: number) => world.call(acme, 'POST', `/pools/${id}/members`, member(n))
    for (let n = 1; n <= most; n++) expect((await add(n)).status).toBe(201)
    const refused = await add(most + 1)
    expect(refused.status).toBe(403)
    expect(refused.body.error).toBe(
      `a pool may have ${most} members under the licence tier ${tier}; apply a licence of a higher tier`,
    )
    await apply(token({ tier: 'custom' }))
    expect((await add(most + 1)).status).toBe(201)
  })

  test('permits no more members to requests that come at once', async () => {
    await apply(token({ tier: 'free' }))
    const { id } = (await world.call(acme, 'POST', '/pools', { name: 'crowded' })).body
    const add = (n: number) => world.call(acme, 'POST', `/pools/${id}/members`, member(n))
    const answers = await Promise.all([1, 2, 3, 4, 5, 6].map(add))
    const statuses = answers.map(({ status }) => status)
    expect(statuses.toSorted()).toEqual([201, 201, 201, 403, 403, 403])
    const refused = answers.filter(({ status }) => status === 403)
    for (const { body } of refused) expect(body.error).toMatch(/^a pool may have 3 members under /)
    expect((await world.call(acme, 'GET', `/pools/${id}/members`)).list).toHaveLength(3)
    await world.call(acme, 'DELETE', `/pools/${id}`)
  })

  test.each([
    ['free', 'POST', '/services', { filterChain: ['round-robin'] }],
    ['paid', 'POST', '/services', { filterChain: ['signal-weight', 'round-robin'] }],
    ['pro', 'POST', '/services', { filterChain: ['script:result = candidates'] }],
  ])('%s has not every filter', async (tier, method, path, more) => {
    await apply(token({ tier: tier as 'free' }))
    const sent = { name: `s-${tier}`, domain: `${tier}.example.com.`, ...more }
    const answer = await world.call(acme, method, path, sent)
    expect(answer.status).toBe(403)
    expect(answer.body.error).toMatch(/ needs? the (paid|pro|enterprise) licence tier/)
  })

  test('decides over roles and tenants of the system', async () => {
    await apply(token({ tier: 'pro' }))
    const answer = await world.call(rootKey, 'POST', '/tenants', { name: 'fourth' })
    expect(answer.status).toBe(403)
    expect(answer.body.error).toContain('enterprise')
  })

  test('is reported, object by object, when changes by Git exceed it', () => {
    const snapshot = world.ports.config.snapshot()
    expect(licenceExcess(snapshot, 'enterprise', 9)).toEqual([])
    const found = licenceExcess(snapshot, 'free', 1).map(({ code, severity, file, message }) => {
      expect([code, severity]).toEqual(['licence-exceeded', 'warning'])
      return `${file}: ${message}`
    })
    expect(found.slice(0, 2)).toEqual([
      expect.stringMatching(/^tenants\/acme\/tenant.yaml: tenants besides the default one need/),
      expect.stringMatching(/^tenants\/zenith\/tenant.yaml: /),
    ])
    const tooMany = (tier: string, has: number): unknown =>
      expect.stringMatching(new RegExp(`pool-${tier}.yaml: a pool may have 3 .* has ${has}$`))
    expect(found.slice(2)).toEqual([tooMany('free', 4), tooMany('paid', 11)])
  })

  test.each([
    ['pro', 3, []],
    ['pro', 4, ['4 nodes are running, and the licence tier pro permits 3']],
    ['paid', 2, ['2 nodes are running, and the licence tier paid permits one']],
  ] as const)('%s and %i nodes', (tier, nodes, told) => {
    const found = licenceExcess(world.ports.config.snapshot(), tier, nodes)
    const ofNodes = found.filter(({ file }) => file === '')
    expect(ofNodes.map(({ message }) => message)).toEqual(told)
  })

  test.each([
    ['pro', 10, []],
    ['pro', 11, ['11 probe agents are running, and the licence tier pro permits 10']],
    ['paid', 1, ['1 probe agent is running, and the licence tier paid permits none']],
  ] as const)('%s and %i probe agents', (tier, agents, told) => {
    const found = licenceExcess(world.ports.config.snapshot(), tier, 1, agents)
    const ofAgents = found.filter(({ file }) => file === '')
    expect(ofAgents.map(({ message }) => message)).toEqual(told)
  })
})
