// A node whose Redis and PostgreSQL are killed and come back: DNS goes on without a gap, the API
// does what it can, and recovers by itself.
import { setTimeout as delay } from 'node:timers/promises'
import { afterAll, beforeAll, expect, onTestFinished, test } from 'vitest'
import { identityLimits } from '#access/auth/identities.ts'
import { builtInRoles } from '#access/permissions.ts'
import { callApi } from '#test/support/api-client.ts'
import { useDaemons } from '#test/support/daemon.ts'
import type { DaemonProcess } from '#test/support/daemon.ts'
import { startPostgres } from '#test/support/postgres-server.ts'
import type { PostgresServer } from '#test/support/postgres-server.ts'
import { QueryLoad } from '#test/support/query-load.ts'
import { startRedis } from '#test/support/redis-server.ts'
import type { RedisServer } from '#test/support/redis-server.ts'
import { Site } from '#test/support/site.ts'
import { waitUntil } from '#test/support/wait-until.ts'

const systemKey = 'ab'.repeat(32)
const ann = { email: 'ann@example.com', password: 'correct horse' }

const { start } = useDaemons({ GSLB_API_KEY: systemKey, GSLB_SECRET_KEY: 'cd'.repeat(32) })
let redis: RedisServer
let postgres: PostgresServer
let site: Site
let daemon: DaemonProcess

beforeAll(async () => {
  ;[redis, postgres] = await Promise.all([startRedis('always'), startPostgres()])
  site = await Site.make('stores', {
    redis: { url: redis.url },
    database: { url: postgres.url },
    auth: { bcryptCost: 10 },
  })
  site.trustNode()
  await site.push()
})
afterAll(async () => {
  await Promise.all([redis.stop(), postgres.stop()])
  site.remove()
})

const asSystem = (method: string, path: string, body?: object) =>
  callApi(daemon, method, path, { bearer: systemKey, ...(body && { body }) })
const statusFor = async (token: string): Promise<number> =>
  (await callApi(daemon, 'GET', '/auth/me', { bearer: token })).status
const tryToLogIn = () =>
  callApi<{ readonly token: string; readonly error: string }>(daemon, 'POST', '/auth/login', {
    body: ann,
  })

/** @returns the token of a session that works */
async function logIn(): Promise<string> {
  const { status, body } = await tryToLogIn()
  expect({ status, error: body.error }).toEqual({ status: 200, error: undefined })
  expect(await statusFor(body.token)).toBe(200)
  return body.token
}

const healthIs = (status: string): Promise<boolean> =>
  waitUntil(`health to be ${status}`, async () => (await daemon.health()) === status)

test('without PostgreSQL it starts and serves; roles are stored when that is back', async () => {
  await postgres.kill()
  daemon = await start('serve', '--settings', site.settingsFile)
  await waitUntil('the answers', async () => (await answer()) === '192.0.2.1')
  const refused = await asSystem('GET', '/roles')
  expect(refused.status).toBe(503)
  expect(refused.body.error).toMatch(/^this cannot be read or kept at the moment: The database/)
  expect((await asSystem('GET', '/pools')).status).toBe(200)
  expect((await tryToLogIn()).status).toBe(503)
  const told = daemon.logged('no logins, accounts and tenant keys until the database is back')
  expect(told).toMatchObject({ level: 'error', setting: 'database.url', host: '127.0.0.1' })

  await postgres.start()
  const roles = await waitUntil('the roles', async () => {
    const { status, body } = await asSystem('GET', '/roles')
    return status === 200 && (body as unknown as readonly { name: string }[])
  })
  const names = roles.map(({ name }) => name).toSorted()
  expect(names).toEqual(Object.keys(builtInRoles).toSorted())
  expect(daemon.logged('the built-in roles are stored')).toBeDefined()
  const created = await callApi(daemon, 'POST', '/auth/setup', { body: ann })
  expect(created.status).toBe(201)
})

async function answer(): Promise<string> {
  const [line = ''] = await daemon.answers('www.example.com. A')
  return line.split(' ').at(-1) ?? ''
}

/** Reads and writes of the configuration, one after the other; neither needs a database. */
function startApiLoad() {
  const seen = { reads: new Map<number, number>(), writes: new Map<number, number>() }
  let isOver = false
  let written = 0
  const note = (counts: Map<number, number>, { status }: { readonly status: number }): void =>
    void counts.set(status, (counts.get(status) ?? 0) + 1)
  const running = (async () => {
    while (!isOver) {
      note(seen.reads, await asSystem('GET', '/services'))
      note(seen.writes, await asSystem('POST', '/pools', { name: `load-${written++}` }))
      await delay(20)
    }
  })()
  const stop = async () => {
    isOver = true
    await running
    return seen
  }
  onTestFinished(() => void (isOver = true))
  return { stop }
}

async function withoutRedis(): Promise<void> {
  const shared = await logIn()
  const ended = await logIn()
  await redis.kill()
  await healthIs('degraded')
  // Sessions that only Redis knows cannot be checked; new ones are this node's.
  expect(await statusFor(shared)).toBe(401)
  const local = await logIn()
  const logout = await callApi(daemon, 'POST', '/auth/logout', { bearer: local })
  expect(logout.status).toBe(204)
  expect(await statusFor(local)).toBe(401)
  const kept = await logIn()

  await redis.start()
  await healthIs('ok')
  await waitUntil('the session before', async () => (await statusFor(shared)) === 200)
  expect(await statusFor(kept)).toBe(200)
  expect(await statusFor(local)).toBe(401)
  expect((await callApi(daemon, 'POST', '/auth/logout', { bearer: ended })).status).toBe(204)
  expect(await statusFor(ended)).toBe(401)
}

async function withoutPostgres(): Promise<void> {
  const session = await logIn()
  await postgres.kill()
  const login = await tryToLogIn()
  expect(login.status).toBe(503)
  expect(login.body.error).toMatch(/^this cannot be read or kept at the moment: The database/)
  expect((await asSystem('GET', '/users')).status).toBe(503)
  // A node remembers for a few seconds to whom a session belongs.
  await waitUntil('the session to be in doubt', async () => (await statusFor(session)) === 503, {
    timeoutMs: identityLimits.keptMs + 45_000,
  })
  expect((await asSystem('GET', '/auth/me')).status).toBe(200)

  await postgres.start()
  await waitUntil('the session', async () => (await statusFor(session)) === 200)
  await logIn()
  expect((await asSystem('GET', '/users')).status).toBe(200)
}

test(
  'Redis and PostgreSQL killed under load: no answer is lost, and the API recovers by itself',
  { timeout: 240_000 },
  async () => {
    const queries = new QueryLoad(daemon.dnsPort, 'www.example.com. A')
    queries.start()
    const load = startApiLoad()
    await withoutRedis()
    await withoutPostgres()
    await Promise.all([redis.kill(), postgres.kill()])
    await waitUntil('both to be missed', async () => (await tryToLogIn()).status === 503)
    await Promise.all([redis.start(), postgres.start()])
    await waitUntil('a login', async () => (await tryToLogIn()).status === 200)
    const { reads, writes } = await load.stop()
    const { lost, answers } = await queries.stop()
    expect({ lost, answers }).toEqual({ lost: 0, answers: ['192.0.2.1'] })
    expect([...reads.keys()]).toEqual([200])
    expect([...writes.keys()]).toEqual([201])
    expect(daemon.stderr).toBe('')
    expect(await daemon.stop()).toEqual({ code: 0, signal: null })
  },
)
