import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { unprobed } from '#ports/member-health.ts'
import type { AskedMember, KnownHealth, MemberHealthView } from '#ports/member-health.ts'
import { keyOf, rootKey, startConfigWorld } from '#test/support/config-world.ts'
import type { AnsweredBody, ConfigWorld } from '#test/support/config-world.ts'

const acme = keyOf('acme')
const zenith = keyOf('zenith')
/** Known health, by address or id; other members have none. */
const known = new Map<string, KnownHealth>()
const asked: AskedMember[] = []
const memberHealth: MemberHealthView = {
  node: 'n1',
  of: (member) => {
    asked.push(member)
    return known.get(member.uid) ?? known.get(member.ipAddress) ?? unprobed('n1')
  },
  onChange: () => () => undefined,
}

let world: ConfigWorld
let pool: string
let first: AnsweredBody
let second: AnsweredBody
beforeAll(async () => {
  world = await startConfigWorld({ ports: { memberHealth } })
  pool = (await call(acme, 'POST', '/pools', { name: 'web' })).body.id
  const members = `/pools/${pool}/members`
  first = (await call(acme, 'POST', members, { ipAddress: '192.0.2.1', port: 80 })).body
  const warming = { ipAddress: '2001:DB8::2', port: 80, warmupThreshold: 3 }
  second = (await call(acme, 'POST', members, warming)).body
  const rule = { cidr: '198.51.100.0/24', endpoint: '192.0.2.1' }
  await call(acme, 'POST', `/pools/${pool}/georules`, rule)
  const service = { name: 'www', domain: 'www.example.com.', poolId: pool }
  await call(acme, 'POST', '/services', service)
  await call(zenith, 'POST', '/pools', { name: 'other' })
})
afterAll(() => world.close())

const call: ConfigWorld['call'] = (...args) => world.call(...args)

const failing: KnownHealth = {
  ...unprobed('n1', false),
  score: 0.25,
  rttMs: 12.5,
  lastCheckedMs: 1_700_000_000_123,
  reason: 'HTTP 503, expected 200',
  sinceMs: 1_700_000_000_000,
  nodes: [
    {
      ...{ node: 'n1', healthy: false, score: 0.25 },
      ...{ reason: 'HTTP 503, expected 200', sinceMs: 1_700_000_000_000 },
    },
  ],
}

/** Nothing holds the member. */
const asWritten = {
  ...{ weight: 1, enabled: true, declaredWeight: 1, declaredEnabled: true },
  heldBy: null,
}

describe('health status', () => {
  test('a member of whom nothing is known is healthy', async () => {
    const answer = await call(acme, 'GET', `/members/${first.id}/status`)
    expect(answer.status).toBe(200)
    expect(answer.body).toEqual({
      healthy: true,
      probed: false,
      score: 1,
      reason: '',
      since: 0,
      lastCheck: 0,
      rttMs: 0,
      healthyNodes: 1,
      totalNodes: 1,
      nodes: [{ node: 'n1', healthy: true, score: 1, reason: '', since: 0 }],
      ...asWritten,
    })
  })

  test('is good if one node reaches the member', async () => {
    const nodes = [
      ...failing.nodes,
      { node: 'n2', healthy: true, score: 0.5, reason: '', sinceMs: 0 },
    ]
    known.set('192.0.2.1', { ...failing, globalRttMs: 3, nodes })
    const { body } = await call(acme, 'GET', `/members/${first.id}/status`)
    known.clear()
    expect(body).toEqual({
      healthy: true,
      probed: true,
      score: 0.25,
      reason: 'HTTP 503, expected 200',
      since: 1_700_000_000_000,
      lastCheck: 1_700_000_000_123,
      rttMs: 12.5,
      globalRttMs: 3,
      healthyNodes: 1,
      totalNodes: 2,
      nodes: nodes.map(({ sinceMs, ...node }) => ({ ...node, since: sinceMs })),
      ...asWritten,
    })
  })

  test('the gate shows where there is one; members are keyed by address', async () => {
    known.set('2001:db8::2', { ...unprobed('n1'), isWarming: true, warmupPasses: 2 })
    const { body } = await call(acme, 'GET', `/pools/${pool}/status`)
    known.clear()
    expect(body).toMatchObject({
      poolId: pool,
      members: {
        '192.0.2.1': { healthy: true },
        '2001:db8::2': { warming: true, warmupPasses: 2, warmupThreshold: 3 },
      },
    })
    expect(JSON.stringify(body).match(/warming/g)).toHaveLength(1)
  })

  test('health is asked for by id, canonical address and mode', async () => {
    asked.length = 0
    await call(acme, 'GET', `/members/${second.id}/status`)
    const { id: uid } = second
    expect(asked).toEqual([{ uid, ipAddress: '2001:db8::2', externalSignalMode: 'and' }])
  })

  test("another tenant's pool and member have no status", async () => {
    expect((await call(zenith, 'GET', `/pools/${pool}/status`)).status).toBe(404)
    expect((await call(zenith, 'GET', `/members/${first.id}/status`)).status).toBe(404)
  })
})

describe('dashboard and snapshot', () => {
  test.each([
    [acme, [1, 2, 1, 1, 1, 1]],
    [zenith, [1, 0, 0, 0, 0, 0]],
    [rootKey, [2, 2, 1, 1, 1, 1]],
  ])('the numbers are those of what %s may see', async (by, numbers) => {
    known.set('192.0.2.1', failing)
    const { body } = await call(by, 'GET', '/dashboard/stats')
    known.clear()
    const [totalPools, totalMembers, healthyMembers, unhealthyMembers] = numbers
    const [totalServices, totalGeoRules] = numbers.slice(4)
    expect(body).toEqual({
      totalPools,
      totalMembers,
      healthyMembers,
      unhealthyMembers,
      unprobedMembers: healthyMembers,
      totalServices,
      totalGeoRules,
      uptimeSeconds: 1,
      webSocketClients: 0,
    })
  })

  test('a snapshot has what the lists have, by pool', async () => {
    known.set('192.0.2.1', failing)
    const { body } = await call(acme, 'GET', '/snapshot')
    const stats = (await call(acme, 'GET', '/dashboard/stats')).body
    known.clear()
    const lists = await Promise.all(
      ['/pools', '/services', `/pools/${pool}/members`, `/pools/${pool}/georules`].map(
        async (path) => (await call(acme, 'GET', path)).list,
      ),
    )
    const [pools, services, members, geoRules] = lists
    expect(body).toEqual({
      pools,
      services,
      members: { [pool]: members },
      geoRules: { [pool]: geoRules },
      healthStatus: {
        [pool]: {
          '192.0.2.1': {
            ...{ healthy: false, probed: true, score: 0.25, lastChecked: 1_700_000_000_123 },
            ...{ reason: 'HTTP 503, expected 200', since: 1_700_000_000_000 },
          },
          '2001:db8::2': {
            ...{ healthy: true, probed: false, score: 1, lastChecked: 0, reason: '', since: 0 },
          },
        },
      },
      stats,
      timestamp: expect.any(Number) as number,
    })
  })

  test('a snapshot of a tenant has nothing of another', async () => {
    const { text } = await call(zenith, 'GET', '/snapshot')
    for (const secret of ['"web"', '192.0.2.1', pool, 'www']) expect(text).not.toContain(secret)
  })
})

test('the first of two members with one address is shown, wherever it is', async () => {
  const { id } = (await call(zenith, 'POST', '/pools', { name: 'twins' })).body
  const ids: string[] = []
  for (const port of [80, 81]) {
    const body = { ipAddress: '192.0.2.9', port }
    ids.push((await call(zenith, 'POST', `/pools/${id}/members`, body)).body.id)
  }
  for (const [at, uid] of ids.entries()) {
    known.clear()
    known.set(uid, failing)
    const status = await call(zenith, 'GET', `/pools/${id}/status`)
    const snapshot = await call(zenith, 'GET', '/snapshot')
    const healthy = at > 0
    expect(status.body).toMatchObject({ members: { '192.0.2.9': { healthy } } })
    expect(snapshot.body).toMatchObject({ healthStatus: { [id]: { '192.0.2.9': { healthy } } } })
  }
  known.clear()
})
