import { afterEach, describe, expect, test } from 'vitest'
import { feedLimits } from '#feed/limits.ts'
import { unprobed } from '#ports/member-health.ts'
import { rootKey } from '#test/support/config-world.ts'
import {
  acme,
  commitOf,
  endpoint,
  has,
  ofType,
  ready,
  secret,
  startFeed,
  startUnreadFeed,
  stopFeeds,
  told,
  uids,
  web,
  zenith,
} from '#test/support/feed-scene.ts'
import { objectOf } from '#test/support/feed-world.ts'
import { startingStatus } from '#test/support/gitops-status.ts'
import { waitUntil } from '#test/support/wait-until.ts'

afterEach(stopFeeds)

describe('GET /api/v1/ws/token', () => {
  test('gives a signed token and when it ends', async () => {
    const world = await startFeed()
    const answer = await fetch(`http://${world.origin}/api/v1/ws/token`, {
      headers: { authorization: `Bearer ${acme}` },
    })
    const body = (await answer.json()) as { token: string; expiresAt: number }
    expect(answer.status).toBe(200)
    expect(body.token.split('.')).toHaveLength(3)
    expect(body.expiresAt).toBe(world.time.clock.nowMs() + 60_000)
    // Nothing in it is worth anything by itself.
    expect(atob(body.token.split('.')[1] ?? '')).not.toContain(acme)
  })

  test('needs a credential', async () => {
    const { origin } = await startFeed()
    expect((await fetch(`http://${origin}/api/v1/ws/token`)).status).toBe(401)
  })
})

/** Why a node finds a member unhealthy, and since when. */
const refused = { reason: 'connection refused', sinceMs: 1_700_000_000_000 }

describe('the messages', () => {
  test('begin with each member and how it is', async () => {
    const world = await startFeed()
    world.health.set('192.0.2.1', {
      ...unprobed('n1', false),
      score: 0.25,
      rttMs: 12.5,
      lastCheckedMs: 1_700_000_000_123,
      nodes: [{ node: 'n1', healthy: false, score: 0.25, ...refused }],
    })
    const listener = await ready(world, acme)
    expect(listener.said()).toEqual([
      'snapshot 1',
      'member_update snapshot 192.0.2.1',
      'health_update 192.0.2.1 failing',
      'revision 1',
    ])
    expect(ofType(listener, 'member_update')).toEqual([
      {
        action: 'snapshot',
        poolId: uids.web,
        member: expect.objectContaining({
          id: uids.member,
          poolId: uids.web,
          ipAddress: '192.0.2.1',
          port: 80,
          enabled: true,
        }) as object,
      },
    ])
    expect(ofType(listener, 'health_update')).toEqual([
      {
        poolId: uids.web,
        ipAddress: '192.0.2.1',
        healthy: false,
        score: 0.25,
        timestamp: 1_700_000_000_123,
        rttMs: 12.5,
        node: 'n1',
        memberId: uids.member,
        probed: true,
        reason: 'connection refused',
        since: 1_700_000_000_000,
        lastCheck: 1_700_000_000_123,
      },
    ])
  })

  test('tell of pools, members and services as commits change them', async () => {
    const world = await startFeed()
    const listener = await ready(world, acme)
    listener.heard.length = 0
    const { commit } = world.commits
    const spec = { domain: 'www.example.com.', pool: 'web' }
    const service = objectOf('Service', 'acme', 'www', spec)
    commit(web(), secret(), service)
    commit(web([{ ...endpoint, weight: 7 }], 'new'), secret())
    const last = commit(secret())
    await told(listener, last)
    expect(listener.said()).toEqual([
      'service_update created www',
      'revision 2',
      'pool_update updated new',
      'member_update updated 192.0.2.1',
      'service_update deleted www',
      'revision 3',
      'member_update deleted 192.0.2.1',
      'pool_update deleted new',
      'revision 4',
    ])
    expect(ofType(listener, 'service_update')[0]).toEqual({
      action: 'created',
      service: {
        id: service.uid,
        name: 'www',
        domain: 'www.example.com.',
        algorithm: 'round-robin',
        ttl: expect.any(Number) as number,
        poolId: uids.web,
        filterChain: [],
        onAllDown: 'empty',
        answerCount: 1,
        weakSpots: true,
      },
    })
    expect(ofType(listener, 'pool_update')[0]).toEqual({
      action: 'updated',
      pool: { id: uids.web, name: 'new', minHealthy: 0 },
    })
  })

  test('tell of health when verdict, score or reason change, not for a round trip', async () => {
    const world = await startFeed()
    const listener = await ready(world, acme)
    listener.heard.length = 0
    const say = (healthy: boolean, score: number, rttMs: number, reason = ''): void => {
      const nodes = [{ node: 'n1', healthy, score, reason, sinceMs: 0 }]
      world.health.set('192.0.2.1', { ...unprobed('n1'), healthy, score, rttMs, nodes })
      world.tellHealth(uids.member)
    }
    say(false, 0.5, 1)
    say(false, 0.5, 2)
    say(false, 0.25, 3)
    say(false, 0.25, 4, 'HTTP 503, expected 200')
    say(true, 1, 4)
    await listener.until('health', (heard) => heard.length >= 4)
    const facts = ofType(listener, 'health_update').map(({ healthy, score, rttMs }) => [
      ...[healthy, score, rttMs],
    ])
    expect(facts).toEqual([
      [false, 0.5, 1],
      [false, 0.25, 3],
      [false, 0.25, 4],
      [true, 1, 4],
    ])
  })

  test('name the node whose view it is', async () => {
    const world = await startFeed()
    const listener = await ready(world, acme)
    listener.heard.length = 0
    const nodes = [
      { node: 'n1', healthy: true, score: 1, reason: '', sinceMs: 0 },
      { node: 'n2', healthy: false, score: 0, ...refused },
    ]
    world.health.set('192.0.2.1', { ...unprobed('n1'), rttMs: 5, nodes })
    world.tellHealth(uids.member)
    await listener.until('both views', (heard) => heard.length >= 2)
    const views = ofType(listener, 'health_update')
    expect(views.map(({ node, healthy, rttMs }) => [node, healthy, rttMs])).toEqual([
      ['n1', true, 5],
      ['n2', false, 0],
    ])
  })

  test('have the numbers of what the client may see, soon and then every ten seconds', async () => {
    const world = await startFeed()
    const [ours, all] = [await ready(world, acme), await ready(world, rootKey)]
    for (const count of [1, 2, 3]) {
      // Only a client that has everything else gets them.
      await waitUntil('statistics', () => {
        world.time.pass(feedLimits.tickMs)
        return ofType(ours, 'stats_update').length >= count
      })
    }
    expect(ofType(ours, 'stats_update')[0]).toEqual({ totalPools: 1, tenant: 'acme' })
    await all.until('statistics', has('stats_update'))
    expect(ofType(all, 'stats_update')[0]).toEqual({ totalPools: 1, tenant: null })
    // Once a period, however many see something else.
    const periods = Math.ceil(world.time.clock.monotonicMs() / feedLimits.statsMs)
    expect(world.statsCounted).toBeGreaterThanOrEqual(2)
    expect(world.statsCounted).toBeLessThanOrEqual(periods)
  })

  test('for another tenant reach no other client', async () => {
    const world = await startFeed()
    const [ours, theirs, all] = await Promise.all(
      [acme, zenith, rootKey].map((by) => ready(world, by)),
    )
    world.health.set('198.51.100.1', unprobed('n1', false))
    const { commit } = world.commits
    commit(web(), secret('198.51.100.1', '198.51.100.2'))
    const [hidden] = world.commits.view.snapshot().list('Pool')
    world.tellHealth(...(hidden?.object.spec.members ?? []).map(({ uid }) => uid ?? ''))
    commit(web(), objectOf('Service', 'zenith', 'secret', { domain: 'secret.example.com.' }))
    const last = commit(web([]))
    for (const one of [ours, theirs, all]) {
      await told(one!, one === theirs ? commitOf(3) : last)
    }
    const text = JSON.stringify(ours!.heard)
    for (const word of ['secret', '198.51.100', uids.secret]) expect(text).not.toContain(word)
    expect(JSON.stringify(theirs!.heard)).not.toContain('192.0.2.1')
    expect(JSON.stringify(all!.heard)).toMatch(/198\.51\.100\.2.*192\.0\.2\.1/)
  })
})

describe('coming back', () => {
  test('with the last commit brings what was missed, health too', async () => {
    const world = await startFeed()
    const first = await ready(world, acme)
    first.socket.close()
    await first.closed
    world.commits.commit(web([]), secret())
    world.commits.commit(web(), secret())
    world.health.set('192.0.2.1', {
      ...unprobed('n1', false),
      nodes: [{ node: 'n1', healthy: false, score: 0, ...refused }],
    })
    world.tellHealth(uids.member)
    const again = await world.connect(acme, commitOf(1))
    await again.until('health', () => ofType(again, 'health_update').length >= 2)
    expect(again.said()).toEqual([
      'revision 1',
      'member_update deleted 192.0.2.1',
      'revision 2',
      'member_update created 192.0.2.1',
      'revision 3',
      // What happened, and how it is.
      'health_update 192.0.2.1 failing',
      'health_update 192.0.2.1 failing',
    ])
  })

  test('to a node that began to listen after health had changed brings the change', async () => {
    const first = await ready(await startFeed(), acme)
    first.socket.close()
    await first.closed
    const other = await startFeed()
    other.health.set('192.0.2.1', {
      ...unprobed('n1', false),
      nodes: [{ node: 'n1', healthy: false, score: 0, ...refused }],
    })
    other.tellHealth(uids.member)
    const again = await other.connect(acme, commitOf(1))
    await again.until('health', has('health_update'))
    expect(again.said()).toEqual(['revision 1', 'health_update 192.0.2.1 failing'])
  })

  test('between token, snapshot and connection nothing is missed', async () => {
    const world = await startFeed()
    const token = await world.token(acme)
    const answer = await fetch(`http://${world.origin}/api/v1/health`)
    expect(answer.status).toBe(200)
    const { revision } = world.commits.view.snapshot()
    world.commits.commit(web([]))
    const listener = world.open({ token, revision })
    await told(listener, commitOf(2))
    expect(listener.said()).toEqual(['revision 1', 'member_update deleted 192.0.2.1', 'revision 2'])
  })

  test('with a commit of long ago, or of nowhere, begins with a snapshot', async () => {
    const world = await startFeed({ sizes: { eventsMax: 8, eventBytesMax: 100_000 } })
    await ready(world, acme)
    for (let i = 0; i < 10; i++) world.commits.commit(web([], `web-${i}`))
    for (const revision of [commitOf(1), 'nowhere']) {
      const again = await world.connect(acme, revision)
      expect(again.said()[0]).toBe('snapshot 11')
    }
  })

  test('a node that has no configuration yet tells of the first', async () => {
    const world = await startUnreadFeed()
    world.commits.none()
    const listener = await ready(world, acme)
    expect(listener.said()).toEqual(['snapshot ', 'revision '])
    world.commits.commit(web())
    await told(listener, commitOf(1))
    expect(listener.said().slice(2)).toEqual([
      'pool_update created web',
      'member_update created 192.0.2.1',
      'revision 1',
    ])
  })

  test('a node that has not read its configuration gives no snapshot of nothing', async () => {
    const gitops = () => startingStatus
    const health = () => ({ status: 'ok', reasons: [] }) as const
    const view = {
      gitops,
      health,
      unready: () => [],
      metrics: async () => ({ type: 'text/plain', text: '' }),
    }
    const world = await startUnreadFeed({ ports: { view } })
    const { token } = await world.ports.feedTokens.issue('system')
    const path = `/api/v1/ws?token=${token}`
    const said = '{"error":"the configuration is being read; try again in a moment"}'
    expect(await world.refusal(path)).toEqual([503, said])
    const headers = { authorization: `Bearer ${rootKey}` }
    expect(await world.refusal('/api/v1/ws/token', headers)).toEqual([503, said])
    world.commits.commit(web())
    // The token stays good.
    const listener = world.open({ token })
    await told(listener, commitOf(1))
    expect(listener.said()[0]).toBe('snapshot 1')
  })
})
