import { afterEach, describe, expect, test } from 'vitest'
import { tokenHash } from '#access/auth/policy.ts'
import { feedLimits } from '#feed/limits.ts'
import { apiLimits } from '#http/limits.ts'
import { err, ok } from '#lib/result.ts'
import { rootKey } from '#test/support/config-world.ts'
import {
  acme,
  commitOf,
  ofType,
  ready,
  secret,
  startFeed,
  stopFeeds,
  told,
  web,
  zenith,
} from '#test/support/feed-scene.ts'
import { member } from '#test/support/feed-world.ts'
import type { FeedWorld, Listener } from '#test/support/feed-world.ts'
import { waitUntil } from '#test/support/wait-until.ts'
import { portOf } from '#test/support/port-of.ts'

afterEach(stopFeeds)

const away = async () => err({ code: 'store-away', message: 'the database is away' } as const)

/** A feed where `watcher` is a role of acme, whose permissions may be taken. */
async function customFeed() {
  let permissions = ['snapshot:read', 'pool:read']
  const findByName = async (_tenant: string, name: string) => {
    const whole = { createdAtMs: 0, updatedAtMs: 0, isSystem: false, tenantId: 'acme' }
    const role = { ...whole, id: 'r1', name, permissions }
    return ok(name === 'watcher' ? role : null)
  }
  const world = await startFeed({ ports: { roles: portOf('roles', { findByName }) } })
  const take = (left: string[]): void => {
    permissions = left
    world.ports.identities.forget()
  }
  return { world, take }
}

describe('a handshake is refused', () => {
  const feedOf = (token: string): string => `/api/v1/ws?token=${token}`

  test('without a token, with junk, with a used one, with an expired one', async () => {
    const world = await startFeed()
    const [used, expired] = [await world.token(acme), await world.token(acme)]
    const listener = world.open({ token: used })
    await listener.until('a message', ({ length }) => length > 0)
    const unauthorized = [401, '{"error":"token: is expired, was used, or is none of this server"}']
    expect(await world.refusal(feedOf('junk'))).toEqual(unauthorized)
    expect(await world.refusal(feedOf(used))).toEqual(unauthorized)
    expect((await world.refusal('/api/v1/ws'))[0]).toBe(400)
    expect((await world.refusal(feedOf('x'.repeat(2_000))))[0]).toBe(400)
    expect((await world.refusal(`${feedOf('x')}&more=1`))[0]).toBe(400)
    world.time.pass(60_000)
    expect(await world.refusal(feedOf(expired))).toEqual(unauthorized)
  })

  test('a credential is no token, in whichever place', async () => {
    const world = await startFeed()
    const headers = { authorization: `Bearer ${rootKey}` }
    expect((await world.refusal('/api/v1/ws', headers))[0]).toBe(400)
    expect((await world.refusal(feedOf(rootKey), headers))[0]).toBe(401)
  })

  test('when the credential ended in the meantime', async () => {
    const world = await startFeed()
    const session = await world.logIn('u1', 'acme', 'viewer')
    const token = await world.token(session)
    await world.sessions.revokeUser('u1')
    expect((await world.refusal(feedOf(token)))[0]).toBe(401)
  })

  test('when the role has lost snapshot:read since the token was given out', async () => {
    const { world, take } = await customFeed()
    const token = await world.token(await world.logIn('u1', 'acme', 'watcher'))
    take(['pool:read'])
    expect(await world.refusal(feedOf(token))).toEqual([
      403,
      '{"error":"permission denied: this needs snapshot:read"}',
    ])
  })

  test('when a store cannot be asked', async () => {
    const world = await startFeed()
    const session = await world.logIn('u1', 'acme', 'viewer')
    const token = await world.token(session)
    Object.assign(world.sessions, { find: away })
    expect((await world.refusal(feedOf(token)))[0]).toBe(503)
  })

  test('from a page of another site, and taken from our own', async () => {
    const world = await startFeed()
    const token = await world.token(acme)
    for (const origin of ['https://evil.example', 'null', `https://${world.origin}0`]) {
      expect((await world.refusal(feedOf(token), { origin }))[0]).toBe(403)
    }
    // The token was not used up.
    const listener = world.open({ token })
    await listener.until('a message', ({ length }) => length > 0)
  })

  test('that is no upgrade: 426 says what to do', async () => {
    const world = await startFeed()
    const answer = await fetch(`http://${world.origin}${feedOf(await world.token(acme))}`)
    expect([answer.status, answer.headers.get('upgrade')]).toEqual([426, 'websocket'])
  })

  test('with a key that is none of RFC 6455', async () => {
    const world = await startFeed()
    const path = feedOf(await world.token(acme))
    const [status, body] = await world.refusal(path, { 'sec-websocket-key': 'short' })
    expect([status, Object.keys(JSON.parse(body) as object)]).toEqual([400, ['error']])
  })

  test('anywhere else: the path answers as ever', async () => {
    const world = await startFeed()
    expect((await world.refusal('/api/v1/health'))[0]).toBe(200)
    expect((await world.refusal('/api/v1/pools'))[0]).toBe(401)
  })
})

describe('places', () => {
  test('are counted: one more is refused with 503, and one that is left can be taken', async () => {
    const world = await startFeed({ clientsMax: 3 })
    const token = await world.token(rootKey)
    const listeners = []
    for (let i = 0; i < 3; i++) listeners.push(await world.connect(rootKey))
    expect(world.feed.clientCount).toBe(3)
    const path = `/api/v1/ws?token=${token}`
    expect(await world.refusal(path)).toEqual([
      503,
      '{"error":"the feed has no place for one more client"}',
    ])
    listeners[0]?.socket.close()
    await waitUntil('a place', () => world.feed.clientCount === 2)
    const listener = world.open({ token })
    await listener.until('a message', ({ length }) => length > 0)
  })

  test('are not all for one tenant', async () => {
    const world = await startFeed({ clientsMax: 4 })
    const first = await world.connect(acme)
    await world.connect(acme)
    const token = await world.token(acme)
    expect((await world.refusal(`/api/v1/ws?token=${token}`))[0]).toBe(503)
    await world.connect(zenith)
    first.socket.close()
    await waitUntil('a place', () => world.feed.clientCount === 2)
    // The token was not used up.
    const listener = world.open({ token })
    await listener.until('a message', ({ length }) => length > 0)
  })

  test('do not exist where the feed is off', async () => {
    const world = await startFeed({ clientsMax: 0 })
    const path = `/api/v1/ws?token=${await world.token(rootKey)}`
    expect((await world.refusal(path))[0]).toBe(503)
  })
})

describe('the feed ends', () => {
  /** Ticks until it does. */
  const ticking = async (world: FeedWorld, listener: Listener) => {
    let isClosed = false
    void listener.closed.then(() => (isClosed = true))
    await waitUntil('the end of the feed', () => {
      if (!isClosed) world.time.pass(feedLimits.tickMs)
      return isClosed
    })
    return listener.closed
  }

  test('when its session ends', async () => {
    const world = await startFeed()
    const session = await world.logIn('u1', 'acme', 'viewer')
    const listener = await ready(world, session)
    await world.sessions.revoke(tokenHash(session))
    const beforeMs = world.time.clock.monotonicMs()
    expect(await ticking(world, listener)).toEqual([4401, 'the credential has ended'])
    expect(world.time.clock.monotonicMs() - beforeMs).toBeLessThan(60_000)
  })

  test('when the key of its tenant is replaced', async () => {
    const world = await startFeed()
    const listener = await ready(world, acme)
    world.tenantOfKey.clear()
    world.ports.identities.forget()
    expect((await ticking(world, listener))[0]).toBe(4401)
  })

  test('when its user comes to see something else', async () => {
    const world = await startFeed()
    const listener = await ready(world, await world.logIn('u1', 'default', 'tenant_admin'))
    world.setRole('u1', 'default', 'viewer')
    expect((await ticking(world, listener))[0]).toBe(4401)
  })

  test('when its role loses snapshot:read', async () => {
    const { world, take } = await customFeed()
    const listener = await ready(world, await world.logIn('u1', 'acme', 'watcher'))
    take(['pool:read'])
    expect(await ticking(world, listener)).toEqual([
      4401,
      'what the credential may see has changed',
    ])
  })

  test('not when its role loses pool:read: the numbers of the dashboard do', async () => {
    const { world, take } = await customFeed()
    const listener = await ready(world, await world.logIn('u1', 'acme', 'watcher'))
    const numbers = (): number => ofType(listener, 'stats_update').length
    await waitUntil('the first numbers', () => {
      world.time.pass(feedLimits.tickMs)
      return numbers() > 0
    })
    let asked = 0
    const before = world.sessions.find
    const find: typeof before = (...args) => {
      asked++
      return before.call(world.sessions, ...args)
    }
    Object.assign(world.sessions, { find })
    take(['snapshot:read'])
    await waitUntil('the credential to be asked', () => {
      if (asked === 0) world.time.pass(feedLimits.tickMs)
      return asked > 0
    })
    world.commits.commit(web([]), secret())
    await told(listener, commitOf(2))
    const toldBefore = numbers()
    for (let commit = 3; commit < 8; commit++) {
      world.time.pass(feedLimits.statsMs)
      world.commits.commit(commit % 2 === 0 ? web([]) : web(), secret())
      await told(listener, commitOf(commit))
    }
    expect([numbers(), listener.socket.readyState]).toEqual([toldBefore, listener.socket.OPEN])
  })

  test('when its session cannot be checked for a minute, and not before', async () => {
    const world = await startFeed()
    const listener = await ready(world, await world.logIn('u1', 'acme', 'viewer'))
    Object.assign(world.sessions, { find: away })
    const beforeMs = world.time.clock.monotonicMs()
    expect((await ticking(world, listener))[0]).toBe(1013)
    expect(world.time.clock.monotonicMs() - beforeMs).toBeGreaterThanOrEqual(59_000)
  })

  test('does not keep a session alive', async () => {
    const world = await startFeed()
    const token = await world.logIn('u1', 'acme', 'viewer')
    await ready(world, token)
    const lives = await world.sessions.find(tokenHash(token), null)
    for (let i = 0; i < 30; i++) world.time.pass(feedLimits.tickMs)
    expect(await world.sessions.find(tokenHash(token), null)).toEqual(lives)
  })

  test('with 1001 when the node stops', async () => {
    const world = await startFeed()
    const listeners = [await ready(world, acme), await ready(world, zenith)]
    const closing = world.server.close()
    for (const { closed } of listeners) expect(await closed).toEqual([1001, 'shutting down'])
    await closing
    expect(world.feed.clientCount).toBe(0)
  })

  test('without a word to a client that does not close', async () => {
    const world = await startFeed()
    const listener = await ready(world, acme)
    listener.socket.pause()
    await world.stop()
    expect(world.feed.clientCount).toBe(0)
    listener.socket.terminate()
  })

  test('with 1009 for a client that sends too much', async () => {
    const listener = await ready(await startFeed(), acme)
    listener.socket.send('x'.repeat(apiLimits.feed.incomingBytesMax + 1))
    expect((await listener.closed)[0]).toBe(1009)
  })

  test('not for a client that sends a little', async () => {
    const world = await startFeed()
    const listener = await ready(world, acme)
    listener.socket.send('{"type":"ping"}')
    world.commits.commit(web([]), secret())
    await told(listener, commitOf(2))
    expect(listener.socket.readyState).toBe(listener.socket.OPEN)
  })

  test('for a client that reads nothing, and for nobody else', async () => {
    const world = await startFeed({ sizes: { eventsMax: 400, eventBytesMax: 10_000_000 } })
    const listener = await ready(world, acme)
    const other = await ready(world, zenith)
    listener.socket.pause()
    const rumUrl = `https://example.com/${'y'.repeat(1_500)}`
    const many = (weight: number) =>
      Array.from({ length: 100 }, (_, i) => member(`192.0.2.${i}`, { weight, rumUrl }))
    let count = 0
    await waitUntil('the end of the slow one', () => {
      world.commits.commit(web(many(++count)), secret('198.51.100.1'))
      world.time.pass(feedLimits.tickMs / 10)
      return world.feed.clientCount === 1
    })
    expect(other.socket.readyState).toBe(other.socket.OPEN)
    listener.socket.terminate()
  })
})
