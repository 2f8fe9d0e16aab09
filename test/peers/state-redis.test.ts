// Redis that is killed and comes back, and what a node does meanwhile.
import { setTimeout as delay } from 'node:timers/promises'
import { describe, expect, onTestFinished, test } from 'vitest'
import { systemClock } from '#lib/clock.ts'
import { createEphemeral } from '#state/ephemeral.ts'
import type { EphemeralState } from '#state/ephemeral.ts'
import { createRedisHealthSignals } from '#state/redis/health-signals.ts'
import { Redis } from '#state/redis/redis.ts'
import { redisTarget } from '#state/redis/target.ts'
import { flushRedis, prefix, silentLog } from '#test/support/ephemeral-adapters.ts'
import { startRedis } from '#test/support/redis-server.ts'
import type { RedisServer } from '#test/support/redis-server.ts'
import { valueOf } from '#test/support/store-values.ts'
import { expectSharesOfTenants } from '#test/support/tenant-signals.ts'
import { waitUntil } from '#test/support/wait-until.ts'

const hashOf = (n: number): string => `${n}`.padStart(64, '0')
const ann = { userId: 'ann', tenantId: 'acme', role: 'viewer', createdAtMs: 0 }
const bob = { ...ann, userId: 'bob' }
const hour = 3_600_000

async function redis(): Promise<RedisServer> {
  const server = await startRedis('always')
  onTestFinished(server.stop)
  return server
}

async function node({ url }: RedisServer, log: string[] = []): Promise<EphemeralState> {
  const write = (fields: object, message: string): void => {
    log.push(`${message} ${JSON.stringify(fields)}`)
  }
  const lines = { info: write, warn: write, error: write }
  // A machine that has others to run is no Redis that is away.
  const options = { redis: { url }, prefix, clock: systemClock, log: lines }
  const created = createEphemeral({ ...options, commandTimeoutMs: 10_000 })
  if (!created.ok) throw new Error(created.error)
  onTestFinished(created.value.close)
  await isUp(created.value)
  return created.value
}

const isUp = (state: EphemeralState) => waitUntil('Redis', () => state.status().state === 'up')
const isAway = (state: EphemeralState) =>
  waitUntil('Redis to be missed', () => state.status().state === 'away')

const isKnown = async (state: EphemeralState, n: number): Promise<boolean> =>
  (await valueOf(state.sessions.find(hashOf(n), null))) !== null

test('a tenant has a share of the places for health signals, and others have theirs', async () => {
  const target = redisTarget({ url: (await redis()).url })
  if (!target.ok) throw new Error(target.error)
  const one = new Redis({ target: target.value, prefix, clock: systemClock, log: silentLog })
  onTestFinished(() => one.close())
  await waitUntil('Redis', () => one.status().state === 'up')
  await expectSharesOfTenants((clock, limits) => createRedisHealthSignals(one, clock, limits))
})

describe('two nodes and one Redis', () => {
  test("see each other's changes of a session", async () => {
    const server = await redis()
    const [a, b] = [await node(server), await node(server)]
    await valueOf(a.sessions.create(hashOf(1), ann, hour))
    await valueOf(b.sessions.create(hashOf(2), ann, hour))
    expect(await isKnown(b, 1)).toBe(true)
    expect(await valueOf(a.sessions.revoke(hashOf(2)))).toBe(true)
    expect(await isKnown(b, 2)).toBe(false)
    expect(await valueOf(b.sessions.revokeUser('ann'))).toBe(1)
    expect(await isKnown(a, 1)).toBe(false)
  })

  test('a session of the outage is local, and shared when Redis is back', async () => {
    const server = await redis()
    const [a, b] = [await node(server), await node(server)]
    await valueOf(a.sessions.create(hashOf(1), ann, hour))
    await server.kill()
    await Promise.all([isAway(a), isAway(b)])
    expect(await isKnown(a, 1)).toBe(false)
    await valueOf(a.sessions.create(hashOf(2), { ...ann, createdAtMs: Date.now() }, hour))
    expect(await isKnown(a, 2)).toBe(true)
    expect(await isKnown(b, 2)).toBe(false)
    expect(a.status()).toMatchObject({ kind: 'redis', state: 'away', localSessions: 1 })
    await server.start()
    await Promise.all([isUp(a), isUp(b)])
    await waitUntil('the session to be shared', () => isKnown(b, 2))
    expect(await isKnown(a, 1)).toBe(true)
    await waitUntil('nothing to be local', () => a.status().localSessions === 0)
  })

  test('keep sessions ended in an outage ended, and later ones alive', async () => {
    const server = await redis()
    const [a, b] = [await node(server), await node(server)]
    await valueOf(a.sessions.create(hashOf(1), ann, hour))
    await valueOf(a.sessions.create(hashOf(2), bob, hour))
    await server.kill()
    await Promise.all([isAway(a), isAway(b)])
    // Another node's session of the same user, older than the end of them all. Redis learns ages,
    // which a busy machine shifts a little.
    const [before, after] = [Date.now() - 60_000, Date.now() + 60_000]
    await valueOf(b.sessions.create(hashOf(3), { ...bob, createdAtMs: before }, hour))
    await valueOf(a.sessions.revoke(hashOf(1)))
    await valueOf(a.sessions.revokeUser('bob'))
    await valueOf(a.sessions.create(hashOf(4), { ...bob, createdAtMs: after }, hour))
    await server.start()
    await Promise.all([isUp(a), isUp(b)])
    expect(await isKnown(a, 1)).toBe(false)
    expect(await isKnown(a, 2)).toBe(false)
    await waitUntil('the new session to be shared', () => isKnown(b, 4))
    await waitUntil('the old one to end', async () => !(await isKnown(b, 3)))
    expect(await isKnown(b, 1)).toBe(false)
    expect(await isKnown(b, 2)).toBe(false)
  })

  test('losing Redis gives no new tries, no second use and no second value', async () => {
    const server = await redis()
    const a = await node(server)
    for (let i = 0; i < 3; i++) await valueOf(a.loginAttempts.record('ann', hour))
    await valueOf(a.webSocketTokens.claim('t', hour))
    await server.kill()
    await isAway(a)
    expect(await valueOf(a.loginAttempts.count('ann'))).toMatchObject({ count: 3 })
    expect(await valueOf(a.webSocketTokens.claim('t', hour))).toBe(false)
    expect(await valueOf(a.webSocketTokens.claim('u', hour))).toBe(true)
    await valueOf(a.nonces.put('state', 'verifier'))
    await server.start()
    await isUp(a)
    expect(await valueOf(a.webSocketTokens.claim('u', hour))).toBe(false)
    expect(await valueOf(a.nonces.take('state'))).toBe('verifier')
    expect(await valueOf(a.nonces.take('state'))).toBeNull()
  })

  test('words of monitors and of peers reach a node that missed them', async () => {
    const server = await redis()
    const [a, b] = [await node(server), await node(server)]
    const heard: string[] = []
    b.healthSignals.subscribe(({ source }) => heard.push(source))
    b.peerHealth.subscribe(
      ({ node: from, changed }) => heard.push(`${from} ${changed.length}`),
      () => heard.push('gap'),
    )
    const [postedAtMs, owner] = [Date.now(), { memberUid: 'm1', ipAddress: '192.0.2.1' }]
    const word = { memberUid: 'm1', healthy: false, score: null, postedAtMs }
    const signal = { ...word, source: 'pager', expiresAtMs: postedAtMs + hour }
    const verdict = { ...owner, node: 'a', healthy: false, score: 0, rttMs: 1, atMs: postedAtMs }
    const update = { node: 'a', changed: [verdict], withdrawn: [], atMs: postedAtMs }
    await a.healthSignals.post(signal)
    await a.peerHealth.publish(update)
    await waitUntil('both words', () => heard.includes('pager') && heard.includes('a 1'))
    await server.kill()
    await Promise.all([isAway(a), isAway(b)])
    expect(await a.healthSignals.post({ ...signal, source: 'outage' })).toBe('accepted')
    await expect(a.peerHealth.publish(update)).rejects.toThrow('Redis')
    heard.length = 0
    await server.start()
    await waitUntil('what was missed', () => heard.includes('outage') && heard.includes('gap'))
    expect(await b.peerHealth.load()).toEqual([verdict])
  })

  test('a Redis that forgot everything is told again what a node said of members', async () => {
    const server = await redis()
    const a = await node(server)
    const words = ['m1', 'm2'].map((memberUid) => ({
      ...{ memberUid, ipAddress: '192.0.2.1', node: 'a' },
      ...{ healthy: true, score: 1, rttMs: 1, atMs: 1_000 },
    }))
    await a.peerHealth.publish({ node: 'a', changed: words, withdrawn: [], atMs: 1_000 })
    await flushRedis(server)
    await a.peerHealth.publish({ node: 'a', changed: [], withdrawn: [], atMs: 2_000 })
    const loaded = await a.peerHealth.load()
    expect(loaded.toSorted((x, y) => (x.memberUid < y.memberUid ? -1 : 1))).toEqual(
      words.map((one) => ({ ...one, atMs: 2_000 })),
    )
  })
})

test('killed and started again under load, Redis loses no session of a node', async () => {
  const server = await redis()
  const log: string[] = []
  const a = await node(server, log)
  const made: number[] = []
  let isOver = false
  const load = async (first: number): Promise<void> => {
    for (let n = first; !isOver; n += 8) {
      const identity = { ...ann, userId: `u${n}`, createdAtMs: Date.now() }
      await valueOf(a.sessions.create(hashOf(n), identity, hour))
      made.push(n)
      await delay(1)
    }
  }
  const loads = Array.from({ length: 8 }, (_, i) => load(i))
  for (let round = 0; round < 3; round++) {
    const before = made.length
    await waitUntil('some sessions', () => made.length > before + 50)
    await server.kill()
    await isAway(a)
    await waitUntil('some more', () => made.length > before + 100)
    await server.start()
    await isUp(a)
  }
  isOver = true
  await Promise.all(loads)
  await waitUntil('nothing to be local', async () => {
    await a.sessions.find(hashOf(0), null)
    return a.status().localSessions === 0
  })
  const b = await node(server)
  const missing: number[] = []
  for (const n of made) if (!(await isKnown(b, n))) missing.push(n)
  expect(missing).toEqual([])
  expect(log.filter((line) => line.startsWith('Redis is reached'))).toHaveLength(4)
  // The host, and nothing of the URL: it may have a password.
  expect(log.join('\n')).not.toMatch(/redis:\/\/|@/)
})
