import { Secret, TOTP } from 'otpauth'
import { describe, expect, test } from 'vitest'
import { newSetupCode, setupCodeOf } from '#access/auth/first-setup.ts'
import { loginLimits, networkOf } from '#access/auth/login-limits.ts'
import { devMode } from '#test/support/api-ports.ts'
import { apiKey, createWorld, withKeys } from '#test/support/api-world.ts'
import type { Answer, World } from '#test/support/api-world.ts'
import { persistentAdapters, useState } from '#test/support/persistent-adapters.ts'
import { valueOf } from '#test/support/store-values.ts'

const [, adapter] = persistentAdapters[0]!
const state = useState(adapter)
const email = 'Ann@Example.com'
const password = 'correct horse'

const post = (world: World, path: string, body: unknown, bearer?: string): Promise<Answer> =>
  world.call('POST', `/api/v1${path}`, { body, ...(bearer === undefined ? {} : { bearer }) })
const logIn = (world: World, more: object = {}): Promise<Answer> =>
  post(world, '/auth/login', { email, password, ...more })

async function withAdmin(auth = withKeys): Promise<World> {
  const world = await createWorld(state(), { auth })
  expect((await post(world, '/auth/setup', { email, password })).status).toBe(201)
  return world
}

const network = 'net:127.0.0.1'
/** Counts all attempts of the address but so many, without the hash that each login costs. */
async function leave(attempts: number, world: World): Promise<void> {
  const { loginAttempts } = world.ports
  const { count } = await valueOf(loginAttempts.count(network))
  for (let i = count; i < loginLimits.perNetworkMax - attempts; i++) {
    await valueOf(loginAttempts.record(network, loginLimits.windowMs))
  }
}

describe('POST /auth/setup', () => {
  test('creates the system administrator once and is gone then', async () => {
    const world = await createWorld(state())
    const first = await post(world, '/auth/setup', { email, password })
    expect(first).toMatchObject({
      status: 201,
      body: { email, role: 'tenant_admin', tenantId: 'default', totpEnabled: false },
    })
    expect(first.text).not.toMatch(/passwordHash|correct/)
    await isGone(world)
    const { id } = first.body as { id: string }
    const removed = await world.call('DELETE', `/api/v1/users/${id}`, { bearer: apiKey })
    expect([removed.status, await valueOf(state().users.hasAny())]).toEqual([204, false])
    await isGone(world)
    // Nor is it there for another node, or after a restart.
    await isGone(await createWorld(state()))
  })

  const isGone = async (world: World): Promise<void> => {
    const bodies = [{ email, password }, {}, { email, password: 'short' }, [], undefined]
    for (const body of bodies) {
      const answer = await post(world, '/auth/setup', body)
      expect([answer.status, answer.text]).toEqual([404, '{"error":"there is no such endpoint"}'])
    }
  }

  test('creates one account of two simultaneous requests', async () => {
    const world = await createWorld(state())
    const all = ['a@example.com', 'b@example.com'].map((address) =>
      post(world, '/auth/setup', { email: address, password }),
    )
    const statuses = (await Promise.all(all)).map(({ status }) => status)
    expect(statuses.toSorted()).toEqual([201, 404])
  })

  // As requests come, and what they need.
  const direct = { headers: {}, from: '127.0.0.1' }
  type Way = [string, Partial<typeof direct>, number]
  const ways: readonly Way[] = [
    ['from this machine', { headers: { host: 'localhost:8080' } }, 201],
    ['by IPv6', { from: '::1', headers: { host: '[::1]:8080' } }, 201],
    ['by a mapped address', { from: '::ffff:127.0.0.1', headers: { host: '127.0.0.1' } }, 201],
    ['from another machine', { from: '192.0.2.7' }, 401],
    ['with the name of another host', { headers: { host: 'control.example.net' } }, 401],
    ['with a name that begins so', { headers: { host: '127.0.0.1.example.net' } }, 401],
    ['from a page of the public name', { headers: { origin: 'https://control.example.net' } }, 403],
    [
      'from such a page, by its browser',
      { headers: { origin: 'https://control.example.net', 'sec-fetch-site': 'same-origin' } },
      401,
    ],
    ['linked from one', { headers: { referer: 'https://control.example.net/ui/' } }, 401],
    ...[
      ...['forwarded', 'via', 'x-forwarded-for', 'x-forwarded-host', 'x-forwarded-proto'],
      ...['x-real-ip', 'x-client-ip', 'true-client-ip', 'cf-connecting-ip', 'fastly-client-ip'],
      ...[
        'x-cluster-client-ip',
        'x-original-forwarded-for',
        'x-envoy-external-address',
        'cdn-loop',
      ],
    ].map((name): Way => [`with ${name}`, { headers: { [name]: '127.0.0.1' } }, 401]),
  ]
  test.each(ways)('needs no credential of this machine alone: %s', async (_what, way, status) => {
    const world = await createWorld(state())
    const { from, headers } = { ...direct, ...way }
    const path = '/api/v1/auth/setup'
    const sent = { url: path, remoteAddress: from, headers, payload: { email, password } }
    const answer = await world.app.inject({ method: 'POST', ...sent })
    expect([answer.statusCode, await valueOf(state().users.hasAny())]).toEqual([
      status,
      status === 201,
    ])
  })

  const far = { headers: { host: 'control.example.net' } }
  const code = newSetupCode()
  const withCode = { ...withKeys, setupCode: setupCodeOf(code) }

  test.each([
    ['the code', { setupCode: code }, '', 201],
    ['the code as somebody types it', { setupCode: ` ${code.toUpperCase()} ` }, '', 201],
    ['another code', { setupCode: newSetupCode() }, '', 401],
    ['no code', {}, '', 401],
    ['an empty code', { setupCode: '' }, '', 401],
    ['the system key', {}, apiKey, 201],
    ['another key', {}, 'c'.repeat(64), 401],
  ])('takes from another machine: %s', async (_what, more, bearer, status) => {
    const world = await createWorld(state(), { auth: withCode })
    const body = { email, password, ...more }
    const answer = await world.call('POST', '/api/v1/auth/setup', { ...far, bearer, body })
    expect(answer.status).toBe(status)
    if (status === 401) {
      expect(answer.headers['www-authenticate']).toBe('Bearer')
      expect(answer.text).toContain('the log of this node')
    }
  })

  test('a code that is no password opens no more than one account, and nothing else', async () => {
    const world = await createWorld(state(), { auth: withCode })
    const body = { email, password, setupCode: code }
    const asked = await world.call('GET', '/api/v1/auth/config', far)
    expect(asked.body).toMatchObject({ setupOpen: true, setupNeedsCode: true })
    const short = { ...body, password: 'ö'.repeat(40) }
    const refused = await world.call('POST', '/api/v1/auth/setup', { ...far, body: short })
    expect(refused.status).toBe(400)
    const twice = [body, { ...body, email: 'eve@example.com' }].map((one) =>
      world.call('POST', '/api/v1/auth/setup', { ...far, body: one }),
    )
    const statuses = (await Promise.all(twice)).map(({ status }) => status)
    expect(statuses.toSorted()).toEqual([201, 404])
    const bearer = code
    expect((await world.call('GET', '/api/v1/users', { ...far, bearer })).status).toBe(401)
    const after = await world.call('GET', '/api/v1/auth/config', far)
    expect(after.body).toMatchObject({ setupOpen: false, setupNeedsCode: false })
  })

  test('in dev mode a page whose name was made to mean this machine does not get it', async () => {
    const world = await createWorld(state(), { auth: devMode })
    const body = { email, password }
    const answer = await world.call('POST', '/api/v1/auth/setup', { ...far, body })
    expect([answer.status, await valueOf(state().users.hasAny())]).toEqual([403, false])
  })

  test('is not there when the setting says so', async () => {
    const world = await createWorld(state(), { auth: { ...withKeys, setupEndpoint: false } })
    expect((await post(world, '/auth/setup', { email, password })).status).toBe(404)
  })

  const wrong: readonly [string, unknown, string][] = [
    ['no e-mail address', { password }, 'email: is required'],
    ['no address', { email: 'ann', password }, 'email: must be an e-mail address'],
    ['a short password', { email, password: 'short' }, 'password: must be a text of 8 to 72'],
    [
      'a number',
      { email, password: 12345678 },
      'password: must be a text of 8 to 72 characters, not 12345678',
    ],
    ['long letters', { email, password: 'ö'.repeat(40) }, 'password: must have at most 72 octets'],
    ['an unknown field', { email, password, rolle: 1 }, 'rolle: there is no such field'],
    [
      'a slip of the hand',
      { emial: email, password },
      'emial: there is no such field; did you mean "email"?',
    ],
    ['a list', [], 'body: must be an object, not a list of 0'],
  ]
  test.each(wrong)('names the field: %s', async (_what, body, error) => {
    const answer = await post(await createWorld(state()), '/auth/setup', body)
    expect(answer.status).toBe(400)
    expect((answer.body as { error: string }).error).toContain(error)
  })
})

describe('POST /auth/login', () => {
  test('gives a token and the same in a cookie, for an address in any case', async () => {
    const world = await withAdmin()
    const answer = await logIn(world, { email: ' ANN@example.COM' })
    const { token, expiresAt } = answer.body as { token: string; expiresAt: number }
    expect(answer).toMatchObject({ status: 200, body: { role: 'tenant_admin' } })
    expect(expiresAt).toBe(world.time.clock.nowMs() / 1_000 + 24 * 3_600)
    expect(answer.headers['set-cookie']).toBe(
      `gslb_session=${token}; Max-Age=86400; Path=/; HttpOnly; SameSite=Strict`,
    )
    const { status, body } = await world.call('GET', '/api/v1/auth/me', { cookie: token })
    expect(status).toBe(200)
    expect(body).toMatchObject({ email, role: 'tenant_admin', isSystemAdmin: true })
  })

  test.each([
    ['a wrong password', { password: 'wrong horse' }],
    ['an unknown address', { email: 'eve@example.com' }],
    ['an empty password', { password: '' }],
    ['a password that is too long', { password: password.padEnd(100) }],
  ])('answers %s like any other failure', async (_what, more) => {
    const answer = await logIn(await withAdmin(), more)
    expect(answer).toMatchObject({ status: 401, text: '{"error":"invalid credentials"}' })
    expect(answer.headers['set-cookie']).toBeUndefined()
  })

  test('says that the tenant of the account is gone, to who has the password', async () => {
    const world = await createWorld(state())
    const eve = { email: 'eve@example.com', password, role: 'tenant_admin', tenantId: 'acme' }
    await post(world, '/tenants', { name: 'acme' }, apiKey)
    expect((await post(world, '/users', eve, apiKey)).status).toBe(201)
    expect((await logIn(world, { email: eve.email })).status).toBe(200)
    await world.call('DELETE', '/api/v1/tenants/acme', { bearer: apiKey })
    const error = 'the tenant of this account does not exist any more; ask a system administrator'
    const refused = await logIn(world, { email: eve.email })
    expect(refused).toMatchObject({ status: 401, body: { error } })
    expect(refused.headers['set-cookie']).toBeUndefined()
    const guessed = await logIn(world, { email: eve.email, password: 'wrong horse' })
    expect(guessed.body).toEqual({ error: 'invalid credentials' })
  })

  test('fails with a password that only begins like a long one', async () => {
    const world = await createWorld(state())
    const long = 'x'.repeat(72)
    await post(world, '/auth/setup', { email, password: long })
    expect((await logIn(world, { password: long })).status).toBe(200)
    expect((await logIn(world, { password: `${long}y` })).status).toBe(401)
  })

  test('is slowed down after ten attempts, also with the right password', async () => {
    const world = await withAdmin()
    for (let i = 0; i < loginLimits.perPairMax; i++) {
      expect((await logIn(world, { password: `wrong ${i}` })).status).toBe(401)
    }
    const refused = await logIn(world)
    expect(refused).toMatchObject({
      status: 429,
      body: { error: 'too many attempts; try again in 900 seconds' },
      headers: { 'retry-after': '900' },
    })
    world.time.pass(loginLimits.windowMs)
    expect((await logIn(world)).status).toBe(200)
  })

  test('ever again at one account does not lock the other accounts of the address', async () => {
    const world = await withAdmin()
    await leave(20, world)
    for (let i = 0; i < 40; i++) {
      await post(world, '/auth/login', { email: 'bob@example.com', password: 'guessed' })
    }
    expect((await logIn(world)).status).toBe(200)
  })

  test('attempts at ever new accounts lock the address, and no other account', async () => {
    const world = await withAdmin()
    const statuses: number[] = []
    await leave(20, world)
    for (let i = 0; i <= 20; i++) {
      const form = { email: `${i}@example.com`, password: 'guessed' }
      statuses.push((await post(world, '/auth/login', form)).status)
    }
    expect(statuses.indexOf(429)).toBe(20)
    expect((await logIn(world)).status).toBe(429)
    const { count } = await valueOf(world.ports.loginAttempts.count(network))
    expect(count).toBe(loginLimits.perNetworkMax)
  })

  test('that succeeds forgets the failures before it', async () => {
    const world = await withAdmin()
    for (let i = 0; i < 3 * loginLimits.perPairMax; i++) {
      const isRight = i % 5 === 4
      const { status } = await logIn(world, isRight ? {} : { password: 'wrong horse' })
      expect(status).toBe(isRight ? 200 : 401)
    }
  })

  test.each([
    ['203.0.113.9', '203.0.113.9'],
    ['::ffff:203.0.113.9', '203.0.113.9'],
    ['2001:db8:1:2:3:4:5:6', '2001:db8:1:2::/64'],
    ['2001:db8:1:2::9', '2001:db8:1:2::/64'],
    ['2001:DB8::1', '2001:db8:0:0::/64'],
    ['::1', '0:0:0:0::/64'],
  ])('counts %s as %s', (address, network) => {
    expect(networkOf(address)).toBe(network)
  })
})

test('POST /auth/logout ends the session and takes the cookie away', async () => {
  const world = await withAdmin()
  const { token } = (await logIn(world)).body as { token: string }
  const out = await world.call('POST', '/api/v1/auth/logout', { cookie: token })
  expect(out.status).toBe(204)
  expect(out.headers['set-cookie']).toBe(
    'gslb_session=; Max-Age=0; Path=/; HttpOnly; SameSite=Strict',
  )
  for (const credential of [{ cookie: token }, { bearer: token }]) {
    expect((await world.call('GET', '/api/v1/auth/me', credential)).status).toBe(401)
  }
})

test.each([
  ['ends this session alone', '', 200],
  ['with everywhere=false, too', '?everywhere=false', 200],
  ['with everywhere=true ends all of the account', '?everywhere=true', 401],
])('POST /auth/logout %s', async (_case, query, others) => {
  const world = await withAdmin()
  const { token } = (await logIn(world)).body as { token: string }
  const { token: other } = (await logIn(world)).body as { token: string }
  const out = await world.call('POST', `/api/v1/auth/logout${query}`, { bearer: token })
  expect(out.status).toBe(204)
  expect((await world.call('GET', '/api/v1/auth/me', { bearer: token })).status).toBe(401)
  expect((await world.call('GET', '/api/v1/auth/me', { bearer: other })).status).toBe(others)
  expect((await logIn(world)).status).toBe(200)
})

test('POST /auth/logout?everywhere=true of a key ends no session', async () => {
  const world = await withAdmin()
  const { token } = (await logIn(world)).body as { token: string }
  const path = '/api/v1/auth/logout?everywhere=true'
  expect((await world.call('POST', path, { bearer: apiKey })).status).toBe(204)
  expect((await world.call('GET', '/api/v1/auth/me', { bearer: token })).status).toBe(200)
})

test('a new password ends the sessions of the old one', async () => {
  const world = await withAdmin()
  const { token, userId } = (await logIn(world)).body as { token: string; userId: string }
  const body = { password: 'another horse' }
  const changed = await world.call('PUT', `/api/v1/users/${userId}`, { bearer: apiKey, body })
  expect(changed.status).toBe(200)
  expect((await world.call('GET', '/api/v1/auth/me', { bearer: token })).status).toBe(401)
  expect((await logIn(world)).status).toBe(401)
  expect((await logIn(world, body)).status).toBe(200)
})

describe('TOTP', () => {
  /** `code` takes by how much the clock of the app is ahead. */
  async function enrol(world: World): Promise<{ token: string; code: (ms?: number) => string }> {
    const { token } = (await logIn(world)).body as { token: string }
    const set = await post(world, '/auth/totp/setup', undefined, token)
    const { secret, qrCode } = set.body as { secret: string; qrCode: string }
    expect(secret).toMatch(/^[A-Z2-7]{32}$/)
    const png = Buffer.from(qrCode.replace('data:image/png;base64,', ''), 'base64')
    expect(png.subarray(0, 8)).toEqual(Buffer.from('\x89PNG\r\n\x1a\n', 'latin1'))
    const app = new TOTP({ secret: Secret.fromBase32(secret) })
    const code = (offMs = 0) => app.generate({ timestamp: world.time.clock.nowMs() + offMs })
    return { token, code }
  }
  const wrongCode = (code: string): string => (code === '000000' ? '111111' : '000000')

  test('counts from the first code on, and each code once', async () => {
    const world = await withAdmin()
    const { token, code } = await enrol(world)
    expect((await logIn(world)).status).toBe(200)
    const wrong = await post(world, '/auth/totp/verify', { code: wrongCode(code()) }, token)
    expect(wrong).toMatchObject({
      status: 400,
      body: { error: expect.stringMatching(/^code: /) as string },
    })
    const verified = await post(world, '/auth/totp/verify', { code: code() }, token)
    expect(verified).toMatchObject({ status: 200, body: { totpEnabled: true } })
    const missing = await logIn(world)
    expect(missing).toMatchObject({
      status: 401,
      body: { error: 'TOTP code required', mfaRequired: true },
    })
    // The code of the enrolment is used up.
    expect((await logIn(world, { totpCode: code() })).status).toBe(401)
    world.time.pass(30_000)
    expect((await logIn(world, { totpCode: wrongCode(code()) })).status).toBe(401)
    expect((await logIn(world, { totpCode: code() })).status).toBe(200)
    expect((await logIn(world, { totpCode: code() })).status).toBe(401)
    world.time.pass(30_000)
    expect((await logIn(world, { totpCode: code() })).status).toBe(200)
  })

  test('slows the account down after many codes, but not the logins of its address', async () => {
    const world = await withAdmin()
    const { token, code } = await enrol(world)
    const verify = (text: string) => post(world, '/auth/totp/verify', { code: text }, token)
    const statuses: number[] = []
    await leave(20, world)
    for (let i = 0; i < 40; i++) statuses.push((await verify(wrongCode(code()))).status)
    const tried = loginLimits.perPairMax
    expect(statuses.slice(0, tried)).toEqual(Array<number>(tried).fill(400))
    expect(new Set(statuses.slice(tried))).toEqual(new Set([429]))
    expect((await verify(code())).status).toBe(429)
    expect((await logIn(world)).status).toBe(200)
  })

  test('takes no code of two minutes ago', async () => {
    const world = await withAdmin()
    const { token, code } = await enrol(world)
    await post(world, '/auth/totp/verify', { code: code() }, token)
    world.time.pass(60_000)
    const old = code()
    world.time.pass(120_000)
    const refused = await logIn(world, { totpCode: old })
    const error = expect.stringMatching(
      /^invalid TOTP code: .* by a clock that is right$/,
    ) as string
    expect(refused).toMatchObject({ status: 401, body: { error, mfaRequired: true } })
    // Nobody learns which codes will be good.
    expect((await logIn(world, { totpCode: code(120_000) })).body).toEqual(refused.body)
  })

  test.each([
    [-120_000, '120 s behind that'],
    [120_000, '120 s ahead of that'],
  ])('says at the enrolment that the clock of the app is %i ms off', async (offMs, words) => {
    const world = await withAdmin()
    const { token, code } = await enrol(world)
    const refused = await post(world, '/auth/totp/verify', { code: code(offMs) }, token)
    const error = expect.stringContaining(`the clock of the app is ${words} of this node`) as string
    expect(refused).toMatchObject({ status: 400, body: { error } })
  })

  test('is cleared for another account by an update, but not for one’s own', async () => {
    const world = await withAdmin()
    const { token, code } = await enrol(world)
    await post(world, '/auth/totp/verify', { code: code() }, token)
    expect((await post(world, '/auth/totp/setup', undefined, token)).status).toBe(409)
    const me = await world.call('GET', '/api/v1/auth/me', { bearer: token })
    const path = `/api/v1/users/${(me.body as { id: string }).id}`
    const body = { displayName: 'Ann' }
    const own = await world.call('PUT', path, { bearer: token, body })
    expect(own.body).toMatchObject({ displayName: 'Ann', totpEnabled: true })
    const others = await world.call('PUT', path, { bearer: apiKey, body })
    expect(others.body).toMatchObject({ totpEnabled: false })
    expect((await logIn(world)).status).toBe(200)
  })

  test('needs GSLB_SECRET_KEY and the session of a user', async () => {
    const world = await withAdmin({ ...withKeys, secretKey: null })
    const { token } = (await logIn(world)).body as { token: string }
    expect((await post(world, '/auth/totp/setup', undefined, token)).status).toBe(409)
    expect((await post(world, '/auth/totp/setup', undefined, apiKey)).status).toBe(403)
  })

  test('is stored so that the key is needed to read it', async () => {
    const world = await withAdmin()
    const { token } = await enrol(world)
    const id = (await world.call('GET', '/api/v1/auth/me', { bearer: token })).body as {
      id: string
    }
    const found = await world.ports.users.find('every-tenant', id.id)
    expect(found.ok && found.value?.totp?.secretCiphertext).toMatch(/^v1\.[\w-]{80,}$/)
    const other = await createWorld(state(), { auth: { ...withKeys, secretKey: Buffer.alloc(32) } })
    const again = (await logIn(other)).body as { token: string }
    const verify = await post(other, '/auth/totp/verify', { code: '123456' }, again.token)
    expect(verify.status).toBe(409)
  })

  test('is neither set up nor read under another key than that of the secrets', async () => {
    const world = await withAdmin()
    const { token, code } = await enrol(world)
    const { id } = (await world.call('GET', '/api/v1/auth/me', { bearer: token })).body as {
      id: string
    }
    // Somebody else of whose enrolment a code is still to come.
    const body = { email: 'bob@example.com', password: 'another horse' }
    expect((await post(world, '/users', { ...body, role: 'viewer' }, apiKey)).status).toBe(201)
    const bob = (await logIn(world, body)).body as { token: string }
    await post(world, '/auth/totp/setup', undefined, bob.token)
    await post(world, '/auth/totp/verify', { code: code() }, token)
    const before = await world.ports.users.find('every-tenant', id)

    const other = await createWorld(state(), { auth: { ...withKeys, secretKey: Buffer.alloc(32) } })
    const error = expect.stringMatching(/GSLB_SECRET_KEY is not the /) as string
    const again = (await logIn(other, body)).body as { token: string }
    for (const answer of [
      await post(other, '/auth/totp/setup', undefined, again.token),
      await post(other, '/auth/totp/verify', { code: '123456' }, again.token),
      await logIn(other, { totpCode: code() }),
    ]) {
      expect(answer).toMatchObject({ status: 500, body: { error } })
    }
    expect(await world.ports.users.find('every-tenant', id)).toEqual(before)
  })
})

test('GET /auth/config needs no credential', async () => {
  const world = await createWorld(state(), { auth: devMode })
  const { status, body } = await world.call('GET', '/api/v1/auth/config')
  expect([status, body]).toEqual([
    200,
    { oidcEnabled: false, setupOpen: true, starting: false, setupNeedsCode: false },
  ])
})
