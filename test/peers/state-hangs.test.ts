// A Redis that hangs under a running node: it takes connections and answers nothing.
import { afterAll, beforeAll, expect, onTestFinished, test } from 'vitest'
import { systemClock } from '#lib/clock.ts'
import { createEphemeral } from '#state/ephemeral.ts'
import { redisLimits } from '#state/redis/limits.ts'
import { callApi } from '#test/support/api-client.ts'
import { useDaemons } from '#test/support/daemon.ts'
import { prefix, silentLog } from '#test/support/ephemeral-adapters.ts'
import { startRedis } from '#test/support/redis-server.ts'
import type { RedisServer } from '#test/support/redis-server.ts'
import { Site } from '#test/support/site.ts'
import { valueOf } from '#test/support/store-values.ts'
import { waitUntil } from '#test/support/wait-until.ts'

const ann = { email: 'ann@example.com', password: 'correct horse' }
const systemKey = 'ab'.repeat(32)
const { start } = useDaemons({ GSLB_API_KEY: systemKey })
let redis: RedisServer
let site: Site

beforeAll(async () => {
  redis = await startRedis()
  site = await Site.make('hangs', { redis: { url: redis.url }, auth: { bcryptCost: 10 } })
  site.trustNode()
  await site.push()
})
afterAll(async () => {
  await redis.stop()
  site.remove()
})

/** Making a database takes seconds, and minutes on a machine that has others to run. */
const long = { timeout: 240_000 }

test(
  'a Redis that hangs is missed at rest, and memory takes over until it answers',
  long,
  async () => {
    const daemon = await start('serve', '--settings', site.settingsFile)
    const healthIs = (status: string) =>
      waitUntil(`health to be ${status}`, async () => (await daemon.health()) === status)
    const redisUp = async () => {
      const url = `http://127.0.0.1:${daemon.apiPort}/metrics`
      const answer = await fetch(url, { headers: { authorization: `Bearer ${systemKey}` } })
      return Number(/^gslbd_redis_up (\d)$/m.exec(await answer.text())?.[1])
    }
    const logIn = async () =>
      await callApi<{ token: string }>(daemon, 'POST', '/auth/login', { body: ann })
    const statusFor = async (bearer: string) =>
      (await callApi(daemon, 'GET', '/auth/me', { bearer })).status
    await healthIs('ok')
    await daemon.hasDatabase()
    expect((await callApi(daemon, 'POST', '/auth/setup', { body: ann })).status).toBe(201)
    const before = (await logIn()).body.token
    await waitUntil('the session', async () => (await statusFor(before)) === 200)
    await waitUntil('the metric', async () => (await redisUp()) === 1)

    redis.pause()
    // Nobody asks it anything: it is missed all the same.
    await healthIs('degraded')
    expect(await redisUp()).toBe(0)
    expect(daemon.logged('Redis is not reached')).toMatchObject({ level: 'warn', code: 'TIMEOUT' })
    const local = await logIn()
    expect([local.status, await statusFor(local.body.token)]).toEqual([200, 200])
    expect(await daemon.answers('www.example.com. A')).toEqual([
      'www.example.com. 5 IN A 192.0.2.1',
    ])

    redis.resume()
    await healthIs('ok')
    await waitUntil('the metric', async () => (await redisUp()) === 1)
    await waitUntil('the session before', async () => (await statusFor(before)) === 200)
    expect(await statusFor(local.body.token)).toBe(200)
    expect(await daemon.stop()).toEqual({ code: 0, signal: null })
  },
)

test('a command to a hanging Redis counts once, and the next call does not wait', async () => {
  const created = createEphemeral({
    redis: { url: redis.url },
    ...{ prefix, clock: systemClock, log: silentLog },
  })
  if (!created.ok) throw new Error(created.error)
  const { nonces, loginAttempts, status, close } = created.value
  onTestFinished(close)
  await waitUntil('Redis', () => status().state === 'up')
  redis.pause()
  await valueOf(nonces.put('state', 'verifier'))
  expect([status().state, status().fault]).toEqual(['away', 'Redis is not reached (TIMEOUT).'])
  const beganMs = performance.now()
  for (let i = 0; i < 100; i++) await valueOf(loginAttempts.record('ann', 60_000))
  expect(performance.now() - beganMs).toBeLessThan(100 * redisLimits.commandTimeoutMs)
  expect(await valueOf(nonces.take('state'))).toBe('verifier')
  redis.resume()
  await waitUntil('Redis', () => status().state === 'up')
  expect(await valueOf(nonces.take('state'))).toBeNull()
  expect(await valueOf(loginAttempts.count('ann'))).toMatchObject({ count: 100 })
})
