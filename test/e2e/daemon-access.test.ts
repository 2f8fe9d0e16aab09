// Access to a running node: single sign-on with a real provider, and the key of stored secrets.
import { connect } from 'node:net'
import { text } from 'node:stream/consumers'
import { Secret, TOTP } from 'otpauth'
import { afterAll, afterEach, beforeEach, expect, test } from 'vitest'
import { callApi } from '#test/support/api-client.ts'
import { openBrowser } from '#test/support/browser.ts'
import type { Browser } from '#test/support/browser.ts'
import { useDaemons } from '#test/support/daemon.ts'
import type { DaemonProcess } from '#test/support/daemon.ts'
import { clientId, clientSecret, startIdentityProvider } from '#test/support/identity-provider.ts'
import { Site } from '#test/support/site.ts'
import { waitUntil } from '#test/support/wait-until.ts'

const systemKey = 'ab'.repeat(32)
const secretKey = 'cd'.repeat(32)
/** Read at each start. */
const env: Record<string, string> = {}
const { spawn, start, killAll } = useDaemons(env)
let site: Site
let daemon: DaemonProcess

beforeEach(async () => {
  Object.assign(env, { GSLB_API_KEY: systemKey, GSLB_SECRET_KEY: secretKey })
  site = await Site.make('access')
  await site.push()
})
afterEach(async () => {
  await killAll()
  site.remove()
})

async function serve(): Promise<void> {
  daemon = await start('serve', '--settings', site.settingsFile)
  await waitUntil('the first commit', async () => (await daemon.health()) === 'ok')
}

const answers = () => daemon.answers('www.example.com. A')
const served = ['www.example.com. 5 IN A 192.0.2.1']

interface Body {
  readonly error: string
  readonly token: string
  readonly secret: string
  readonly email: string
  readonly role: string
}
const call = (method: string, path: string, bearer = '', body?: object) =>
  callApi<Body>(daemon, method, path, { bearer, ...(body && { body }) })

/** As browsers and the provider know this node. */
const home = 'http://gslb.test'
const redirectUri = `${home}/api/v1/auth/oidc/callback`
const begin = `${home}/api/v1/auth/oidc/authorize`

test('single sign-on gives an account its role; all else needs no provider', async () => {
  const provider = await startIdentityProvider(redirectUri)
  afterAll(() => provider.stop().catch(() => undefined))
  const roles = { roleClaim: 'groups', roleMapping: { staff: 'operator' } }
  const client = { clientId, clientSecret, redirectUri }
  const oidc = { enabled: true, discoveryUrl: provider.issuer, ...client, ...roles }
  site.writeSettings({ auth: { oidc } })
  await serve()
  provider.person = {
    ...{ sub: 'ann', email: 'ann@example.com', email_verified: true, groups: ['staff'] },
  }
  const newBrowser = (): Browser => openBrowser({ [home]: `http://127.0.0.1:${daemon.apiPort}` })
  const browser = newBrowser()
  await browser.follow(begin)
  const session = browser.cookies(home).get('gslb_session') ?? ''
  const me = { email: 'ann@example.com', role: 'operator', authProvider: 'oidc' }
  expect(await call('GET', '/auth/me', session)).toMatchObject({ status: 200, body: me })
  expect((await call('GET', '/pools', session)).status).toBe(200)
  expect((await call('POST', '/users', session, {})).status).toBe(403)

  await provider.stop()
  // What the provider has said of itself is remembered for a few seconds.
  const refused = await waitUntil(
    'the provider to be missed',
    async () => {
      const visit = await newBrowser().get(begin)
      return visit.status !== 302 && visit
    },
    { intervalMs: 1_000 },
  )
  expect(refused.status).toBe(502)
  expect(JSON.parse(refused.text)).toEqual({ error: expect.any(String) as string })
  expect((await call('GET', '/pools', session)).status).toBe(200)
  expect(await answers()).toEqual(served)
  expect(daemon.output).not.toContain(clientSecret)
})

const ann = { email: 'ann@example.com', password: 'correct horse' }

/** The first account, from behind a proxy, and how far others come before. */
async function setUp(): Promise<void> {
  const health = () => daemon.get('/api/v1/health')
  await waitUntil('it to say so', async () => (await health()).includes('"setup-open"'))
  const headers = { 'x-forwarded-for': '192.0.2.7' }
  const make = (more: object) =>
    callApi(daemon, 'POST', '/auth/setup', { headers, body: { ...ann, ...more } })
  expect((await make({})).status).toBe(401)
  // As a proxy that was told nothing sends what it gets.
  const bytes = JSON.stringify(ann)
  const lines = ['POST /api/v1/auth/setup HTTP/1.0', `Host: 127.0.0.1:${daemon.apiPort}`]
  lines.push('Content-Type: application/json', `Content-Length: ${bytes.length}`, '', bytes)
  const socket = connect(daemon.apiPort, '127.0.0.1').end(lines.join('\r\n'))
  expect(await text(socket)).toMatch(/^HTTP\/1\.1 401 /)
  const [, setupCode] = /"?setupCode"?[=:] ?"?([\w-]+)/.exec(daemon.output) ?? []
  expect((await make({ setupCode })).status).toBe(201)
  expect((await make({ setupCode })).status).toBe(404)
  await waitUntil('it to know', async () => !(await health()).includes('"setup-open"'))
}

/** @returns what the app shows, and so what a login needs */
async function enrol(): Promise<TOTP> {
  await setUp()
  const { token } = (await call('POST', '/auth/login', '', ann)).body
  const { secret } = (await call('POST', '/auth/totp/setup', token)).body
  const app = new TOTP({ secret: Secret.fromBase32(secret) })
  const verified = await call('POST', '/auth/totp/verify', token, { code: app.generate() })
  expect(verified.status).toBe(200)
  return app
}

const wrongKeys = [
  [
    'another',
    'ef'.repeat(32),
    'GSLB_SECRET_KEY is not the key under which the TOTP secrets are stored; set it to that one',
  ],
  ['no', '', 'an account has TOTP enabled, but GSLB_SECRET_KEY is not set; set it to the key'],
  ['half a', 'cd', 'GSLB_SECRET_KEY is not 64 hexadecimal digits; make one with: openssl rand'],
] as const

test('with secrets stored under one GSLB_SECRET_KEY it starts with that one alone', async () => {
  await serve()
  const app = await enrol()
  expect(await daemon.stop()).toEqual({ code: 0, signal: null })
  for (const [title, key, says] of wrongKeys) {
    env['GSLB_SECRET_KEY'] = key
    const refused = spawn('serve', '--settings', site.settingsFile)
    expect(await refused.ended, title).toEqual({ code: 1, signal: null })
    expect(refused.stderr).toMatch(/^gslbd: .*\n$/)
    expect(refused.stderr).toContain(says)
    expect(refused.output).not.toContain(secretKey)
  }
  env['GSLB_SECRET_KEY'] = secretKey
  await serve()
  const asked = await call('POST', '/auth/login', '', ann)
  expect(asked).toMatchObject({ status: 401, body: { error: 'TOTP code required' } })
  // A code that was used once is worth nothing: the next one is of the next half minute.
  const totpCode = app.generate({ timestamp: Date.now() + 30_000 })
  expect((await call('POST', '/auth/login', '', { ...ann, totpCode })).status).toBe(200)
  expect(await answers()).toEqual(served)
})
