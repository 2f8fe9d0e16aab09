import { describe, expect, test } from 'vitest'
import type { OidcSettings } from '#access/auth/oidc-client.ts'
import { loginLimits } from '#access/auth/login-limits.ts'
import { apiKey } from '#test/support/api-world.ts'
import { openBrowser } from '#test/support/browser.ts'
import { clientId, startIdentityProvider } from '#test/support/identity-provider.ts'
import {
  ann,
  errorOf,
  redirectUri,
  sessionOf,
  home,
  start,
  useScenes,
  whoIs,
} from '#test/support/oidc-scene.ts'
import { newUser, valueOf } from '#test/support/store-values.ts'

const { state, open, provider } = useScenes()

describe('a login through the identity provider', () => {
  test('makes an account, begins a session and ends at /', async () => {
    const scene = await open()
    const seen: URL[] = []
    const last = await scene.logIn((next) => {
      seen.push(next)
      return next
    })
    expect(new URL(last.url).href).toBe(home)
    expect(await whoIs(scene)).toMatchObject({
      email: ann.email,
      displayName: ann.name,
      role: 'viewer',
      tenantId: 'default',
      authProvider: 'oidc',
      isSystemAdmin: false,
    })
    const asked = seen[0]!.searchParams
    expect(Object.fromEntries(asked)).toMatchObject({
      client_id: clientId,
      redirect_uri: redirectUri,
      response_type: 'code',
      scope: 'openid profile email',
      code_challenge_method: 'S256',
    })
    for (const name of ['state', 'nonce', 'code_challenge']) {
      expect(asked.get(name)?.length, name).toBe(43)
    }
    // The signature of the ID token was looked at.
    expect(provider().asked).toEqual(expect.arrayContaining(['/token', '/jwks', '/me']))
  })

  test('sets cookies with their flags', async () => {
    const { browser } = await open()
    let visit = await browser.get(start)
    expect(visit.headers.getSetCookie()).toEqual([
      expect.stringMatching(/^gslb_login=[\w-]{43}; Max-Age=600; Path=\/; HttpOnly; SameSite=Lax$/),
    ])
    expect(visit.headers.get('cache-control')).toBe('no-store')
    while (!visit.url.startsWith(redirectUri)) {
      visit = await browser.get(new URL(visit.headers.get('location') ?? '', visit.url).href)
    }
    expect([visit.status, visit.headers.get('location'), visit.headers.getSetCookie()]).toEqual([
      302,
      '/',
      [
        expect.stringMatching(
          /^gslb_session=[\w-]{43}; Max-Age=86400; Path=\/; HttpOnly; SameSite=Strict$/,
        ),
      ],
    ])
  })

  test('is in the configuration for the login page', async () => {
    const { world } = await open()
    const answer = await world.call('GET', '/api/v1/auth/config')
    expect(answer.body).toMatchObject({ oidcEnabled: true })
  })

  test('finds the account again, in any case of its address, with the role of now', async () => {
    const roles = { roleClaim: 'groups', roleMapping: { admins: 'tenant_admin' } } as const
    await valueOf(
      state().users.create(newUser('u1', { tenantId: 'default', role: 'tenant_admin' })),
    )
    provider().person = { ...ann, groups: ['admins'] }
    const scene = await open(roles)
    await scene.logIn()
    const first = await whoIs(scene)
    expect(first).toMatchObject({ role: 'tenant_admin', isSystemAdmin: true })
    provider().person = { ...ann, email: 'ANN@example.COM', groups: ['staff'] }
    const again = { ...scene, browser: openBrowser(scene.hosts) }
    await again.browser.follow(start)
    const second = await whoIs(again)
    expect(second).toMatchObject({ id: (first as { id: string }).id, role: 'viewer' })
    // The session that was open before has lost the role as well.
    expect(await whoIs(scene)).toMatchObject({ role: 'viewer', isSystemAdmin: false })
  })

  test('leaves the last system administrator the role, and the log says what to do', async () => {
    const roles = { roleClaim: 'groups', roleMapping: { admins: 'tenant_admin' } } as const
    const admin = { email: ann.email, tenantId: 'default', role: 'tenant_admin' }
    await valueOf(state().users.create(newUser('u1', admin)))
    await valueOf(state().users.create(newUser('u2', { ...admin, email: 'x@y.z', tenantId: 'a' })))
    const scene = await open(roles)
    expect((await scene.logIn()).url).toBe(home)
    expect(await whoIs(scene)).toMatchObject({ role: 'tenant_admin', isSystemAdmin: true })
    const lines = scene.log.filter((line) => line.includes('last system administrator'))
    const named = `"userId":"u1","userEmail":"${ann.email}"`
    expect(lines).toEqual([expect.stringMatching(`Give another account .*${named}.*"viewer"`)])
    const logins = scene.log.filter((line) => line.startsWith('login through the identity'))
    expect(logins).toEqual([expect.stringContaining(named)])
    // With a second one the provider decides again.
    await valueOf(state().users.create(newUser('u3', { ...admin, email: 'z@y.z' })))
    const again = { ...scene, browser: openBrowser(scene.hosts) }
    await again.browser.follow(start)
    expect(await whoIs(again)).toMatchObject({ id: 'u1', role: 'viewer', isSystemAdmin: false })
  })

  test('gives no password: neither login nor administrator can use one', async () => {
    const scene = await open()
    await scene.logIn()
    const { id } = (await whoIs(scene)) as { id: string }
    const body = { email: ann.email, password: 'correct horse' }
    const login = await scene.world.call('POST', '/api/v1/auth/login', { body })
    expect(login.status).toBe(401)
    const set = await scene.world.call('PUT', `/api/v1/users/${id}`, {
      bearer: apiKey,
      body: { password: 'correct horse' },
    })
    expect(set.status).toBe(409)
  })

  test('works at a provider that takes the secret in the body', async () => {
    const other = await startIdentityProvider(redirectUri, { method: 'client_secret_post' })
    try {
      const scene = await open({ discoveryUrl: other.issuer })
      expect((await scene.logIn()).url).toBe(home)
    } finally {
      await other.stop()
    }
  })

  test('in two tabs at once works in both', async () => {
    const scene = await open()
    const [one, two] = [await scene.browser.get(start), await scene.browser.get(start)]
    for (const { headers } of [one, two]) {
      const last = await scene.browser.follow(headers.get('location') ?? '')
      expect(last.url).toBe(home)
    }
  })

  test('makes one account for one new person at two simultaneous logins', async () => {
    const scene = await open()
    const others = [openBrowser(scene.hosts), openBrowser(scene.hosts)]
    const lasts = await Promise.all(others.map((browser) => browser.follow(start)))
    expect(lasts.map(({ url }) => url)).toEqual([home, home])
    expect(await valueOf(state().users.list('every-tenant'))).toHaveLength(1)
  })
})

describe('an account with a password and the same address', () => {
  const existing = { email: 'ann@example.com', tenantId: 'default', role: 'operator' } as const

  test('is refused where its tenant is gone', async () => {
    await valueOf(state().users.create(newUser('u1', { ...existing, tenantId: 'gone' })))
    const scene = await open()
    const last = await scene.logIn()
    expect(last.status).toBe(403)
    expect(errorOf(last)).toContain('the tenant of this account does not exist any more')
    expect((await valueOf(state().users.find('every-tenant', 'u1')))?.oidcIdentity).toBeNull()
  })

  test('is used when the provider has verified the address', async () => {
    await valueOf(state().users.create(newUser('u1', existing)))
    const scene = await open()
    await scene.logIn()
    expect(await whoIs(scene)).toMatchObject({ id: 'u1', authProvider: 'password', role: 'viewer' })
  })

  test('is not used when the provider says nothing about the address', async () => {
    provider().person = { sub: 'ann', email: ann.email }
    await valueOf(state().users.create(newUser('u1', existing)))
    const scene = await open()
    const last = await scene.logIn()
    expect([last.status, errorOf(last)]).toEqual([403, expect.stringMatching(/verified/)])
    expect(sessionOf(scene)).toBeUndefined()
    expect((await valueOf(state().users.find('every-tenant', 'u1')))?.role).toBe('operator')
  })

  test('keeps its second factor: who has TOTP logs in with a code', async () => {
    await valueOf(state().users.create(newUser('u1', existing)))
    const totp = { secretCiphertext: 'v1.x', active: true, lastUsedStep: null }
    await valueOf(state().users.update('every-tenant', 'u1', { totp, updatedAtMs: 2 }))
    const scene = await open()
    const last = await scene.logIn()
    expect([last.status, errorOf(last)]).toEqual([403, expect.stringMatching(/TOTP code/)])
    expect(sessionOf(scene)).toBeUndefined()
  })
})

describe('an account that somebody entered through the provider', () => {
  const eve = { ...ann, sub: 'eve' }

  test.each([
    ['verified', {}, {}],
    ['trusted', { email_verified: undefined }, { trustEmail: true }],
  ])('is not entered by another identity with its address, %s', async (_what, claims, settings) => {
    const scene = await open(settings)
    await scene.logIn()
    const first = await whoIs(scene)
    provider().person = { ...eve, ...claims }
    const other = { ...scene, browser: openBrowser(scene.hosts) }
    const last = await other.browser.follow(start)
    expect([last.status, errorOf(last)]).toEqual([403, expect.stringMatching(/another identity/)])
    expect(sessionOf(other)).toBeUndefined()
    expect(await whoIs(scene)).toEqual(first)
  })

  test('is entered by its own again, also when the address is no longer verified', async () => {
    const scene = await open()
    await scene.logIn()
    const { id } = (await whoIs(scene)) as { id: string }
    provider().person = { ...ann, email_verified: undefined }
    const again = { ...scene, browser: openBrowser(scene.hosts) }
    await again.browser.follow(start)
    expect(await whoIs(again)).toMatchObject({ id })
  })

  test('before identities were kept needs a verified address once', async () => {
    const parts = { email: ann.email, authProvider: 'oidc', passwordHash: null } as const
    await valueOf(state().users.create(newUser('u1', parts)))
    provider().person = { ...eve, email_verified: undefined }
    const scene = await open()
    const last = await scene.logIn()
    expect([last.status, errorOf(last)]).toEqual([403, expect.stringMatching(/verified/)])
    provider().person = ann
    const own = { ...scene, browser: openBrowser(scene.hosts) }
    await own.browser.follow(start)
    expect(await whoIs(own)).toMatchObject({ id: 'u1' })
    const found = await valueOf(state().users.find('every-tenant', 'u1'))
    expect(found?.oidcIdentity).toBe(`${provider().issuer} ann`)
  })
})

describe('somebody who is not let in', () => {
  const rows: readonly [string, object, Partial<OidcSettings>, RegExp][] = [
    ['an address that is not verified', { email_verified: false }, {}, /has not verified/],
    ['no address', { email: undefined }, {}, /no e-mail address/],
    ['an address that is none', { email: 'ann' }, {}, /no e-mail address/],
    ['another domain', {}, { allowedDomains: ['example.org'] }, /domain are not allowed/],
    [
      'an allowed domain in an address that nobody verified',
      { email_verified: undefined },
      { allowedDomains: ['example.com'] },
      /does not say that the e-mail address is verified/,
    ],
    ['a domain below one', {}, { allowedDomains: ['com'] }, /domain are not allowed/],
  ]
  test.each(rows)('has %s: 403, and no account', async (_what, claims, settings, sentence) => {
    provider().person = { ...ann, ...claims }
    const scene = await open(settings)
    const last = await scene.logIn()
    expect([last.status, errorOf(last)]).toEqual([403, expect.stringMatching(sentence)])
    expect(sessionOf(scene)).toBeUndefined()
    expect(await valueOf(state().users.hasAny())).toBe(false)
  })
})

test('a network can begin a limited number of logins', async () => {
  const { browser } = await open()
  for (let i = 0; i < loginLimits.perNetworkMax; i++) await browser.get(start)
  const last = await browser.get(start)
  expect([last.status, last.headers.get('retry-after')]).toEqual([429, '900'])
})
