// Logins through the identity provider that come to nothing.
import { describe, expect, test } from 'vitest'
import { boundedFetch } from '#access/auth/oidc-client.ts'
import { nonceLimits } from '#state/ports/oidc-nonces.ts'
import { openBrowser } from '#test/support/browser.ts'
import type { Visit } from '#test/support/browser.ts'
import {
  clientId,
  clientSecret,
  newSigningKey,
  startIdentityProvider,
} from '#test/support/identity-provider.ts'
import {
  errorOf,
  home,
  redirectUri,
  sessionOf,
  site,
  start,
  useScenes,
} from '#test/support/oidc-scene.ts'
import type { Scene } from '#test/support/oidc-scene.ts'
import { valueOf } from '#test/support/store-values.ts'

const { state, open, provider } = useScenes()

/** Lets a change happen to one parameter of the redirects that match. */
function change(path: RegExp, name: string, value: (old: string | null) => string) {
  return (next: URL): URL => {
    if (!path.test(next.pathname)) return next
    next.searchParams.set(name, value(next.searchParams.get(name)))
    return next
  }
}

function without(path: RegExp, name: string) {
  return (next: URL): URL => {
    if (path.test(next.pathname)) next.searchParams.delete(name)
    return next
  }
}
const elsewhere = 'http://idp.example.com/token'
const atProvider = /^\/auth$/
const atCallback = /\/callback$/

describe('an answer that belongs to no login here', () => {
  const later = 9_999_999_999
  const rows: readonly [string, number, (scene: Scene) => Promise<Visit>][] = [
    ['another state', 400, ({ logIn }) => logIn(change(atCallback, 'state', () => 'x'.repeat(43)))],
    ['no state', 400, ({ browser }) => browser.get(`${redirectUri}?code=x`)],
    ['a state twice', 400, ({ browser }) => browser.get(`${redirectUri}?state=a&state=b`)],
    ['another nonce', 401, ({ logIn }) => logIn(change(atProvider, 'nonce', () => 'n'.repeat(43)))],
    ['another code', 401, ({ logIn }) => logIn(change(atCallback, 'code', () => 'c'.repeat(43)))],
    [
      'another challenge',
      401,
      ({ logIn }) => logIn(change(atProvider, 'code_challenge', () => 'c'.repeat(43))),
    ],
    [
      'another issuer beside the code',
      401,
      ({ logIn }) => logIn(change(atCallback, 'iss', () => 'http://127.0.0.1:1')),
    ],
    ['no issuer beside the code', 401, ({ logIn }) => logIn(without(atCallback, 'iss'))],
    ['no code', 401, ({ logIn }) => logIn(without(atCallback, 'code'))],
    ['a token of another issuer', 401, tampered({ iss: 'https://other.example' })],
    ['a token for another service', 401, tampered({ aud: 'other' })],
    ['a token for several, by another', 401, tampered({ aud: [clientId, 'x'], azp: 'x' })],
    ['a token that is over', 401, tampered({ exp: 1 })],
    ['a token of the future', 401, tampered({ nbf: later })],
    ['a token about somebody else', 401, tampered({ sub: 'eve' })],
    ['a token without its nonce', 401, tampered({ nonce: undefined })],
    [
      'a token signed by a stranger',
      401,
      async ({ logIn }) => {
        const own = provider().signer
        provider().signer = { ...newSigningKey(), kid: own['kid'] ?? '' }
        provider().tamper = (claims) => claims
        return logIn().finally(() => {
          provider().signer = own
        })
      },
    ],
    [
      'the word of the provider that it refused',
      401,
      async ({ browser }) => {
        const begun = await browser.get(start)
        const state = new URL(begun.headers.get('location') ?? '').searchParams.get('state') ?? ''
        const iss = encodeURIComponent(provider().issuer)
        const query = `error=access_denied&error_description=%3Cb%3E&state=${state}&iss=${iss}`
        return browser.get(`${redirectUri}?${query}`)
      },
    ],
  ]
  test.each(rows)('has %s: %i, and no session', async (_what, status, attempt) => {
    const scene = await open()
    const last = await attempt(scene)
    expect(last.status, last.text).toBe(status)
    expect(errorOf(last)).not.toMatch(/undefined|<b>|at .*\.ts/)
    expect(sessionOf(scene)).toBeUndefined()
    expect(await valueOf(state().users.hasAny())).toBe(false)
  })

  function tampered(claims: object) {
    return ({ logIn }: Scene): Promise<Visit> => {
      provider().tamper = (own) => ({ ...own, ...claims })
      return logIn()
    }
  }

  test('such as one that is told twice', async () => {
    const scene = await open()
    let callback = ''
    await scene.logIn((next) => {
      if (atCallback.test(next.pathname)) callback = next.href
      return next
    })
    expect(sessionOf(scene)).toBeDefined()
    const again = await scene.browser.get(callback)
    expect([again.status, errorOf(again)]).toEqual([400, expect.stringMatching(/^state: /)])
  })

  test.each([
    ['just before ten minutes is taken', nonceLimits.ttlMs - 1, 200],
    ['after ten minutes is not', nonceLimits.ttlMs, 400],
    // 200: the page to which / leads.
  ])('such as one that comes late: %s', async (_what, waitMs, status) => {
    const { browser, world } = await open()
    const last = await browser.follow(start, (next) => {
      if (atCallback.test(next.pathname)) world.time.pass(waitMs)
      return next
    })
    expect(last.status, last.text).toBe(status)
  })

  test('such as one that began in another browser', async () => {
    const scene = await open()
    const begun = await scene.browser.get(start)
    const victim = openBrowser(scene.hosts)
    const last = await victim.follow(begun.headers.get('location') ?? '')
    expect([last.status, errorOf(last)]).toEqual([400, expect.stringMatching(/in this browser/)])
    expect(victim.cookies(site).size).toBe(0)
    // Nor does it help that one of its own is on its way there.
    const other = await scene.browser.get(start)
    await victim.get(start)
    const again = await victim.follow(other.headers.get('location') ?? '')
    expect([again.status, sessionOf({ ...scene, browser: victim })]).toEqual([400, undefined])
  })
})

describe('a provider', () => {
  const password = 'correct horse'
  const body = { email: 'root@example.com', password }

  test('that is away is said so, and passwords still work; back, it is used again', async () => {
    const other = await startIdentityProvider(redirectUri)
    const port = Number(new URL(other.issuer).port)
    const scene = await open({ discoveryUrl: other.issuer })
    await scene.world.call('POST', '/api/v1/auth/setup', { body })
    await other.stop()
    const refused = await scene.logIn()
    expect([refused.status, errorOf(refused)]).toEqual([
      502,
      'the identity provider cannot be asked at the moment; log in with a password, or try ' +
        'again in a minute',
    ])
    expect(scene.log.join('\n')).toContain('ECONNREFUSED')
    expect((await scene.world.call('POST', '/api/v1/auth/login', { body })).status).toBe(200)
    const back = await startIdentityProvider(redirectUri, { port })
    try {
      expect((await scene.logIn()).url).toBe(home)
    } finally {
      await back.stop()
    }
  })

  test('that refuses somebody is told of on a page with a way back', async () => {
    const scene = await open()
    const browser = openBrowser(scene.hosts, {
      accept: 'text/html,application/xhtml+xml,*/*;q=0.8',
    })
    const denied = await browser.get(`${redirectUri}?state=${'x'.repeat(43)}&error=access_denied`)
    expect(denied.status).toBe(400)
    expect(denied.headers.get('content-type')).toBe('text/html; charset=utf-8')
    expect(denied.headers.get('content-security-policy')).toMatch(/^default-src 'none'/)
    expect(denied.text).toMatch(
      /<p>state: is of no login, [^<]*; begin again<\/p>\n<p><a href="\/">/,
    )
    expect(denied.text).not.toContain('access_denied')
  })

  test('that starts again with other keys is believed at the next login', async () => {
    const first = await startIdentityProvider(redirectUri)
    const scene = await open({ discoveryUrl: first.issuer })
    expect((await scene.logIn()).url).toBe(home)
    await first.stop()
    const port = Number(new URL(first.issuer).port)
    const second = await startIdentityProvider(redirectUri, { port })
    try {
      const browser = openBrowser(scene.hosts)
      expect((await browser.follow(start)).url).toBe(home)
    } finally {
      await second.stop()
    }
  })

  const path = '/.well-known/openid-configuration'
  const rows: readonly [string, string, number, string][] = [
    ['is another one', path, 200, JSON.stringify({ issuer: 'https://other.example' })],
    ['has no authorization endpoint', path, 200, ''],
    ['answers with an error', path, 500, '{}'],
    ['answers with a page', path, 200, '<html>'],
    ['answers without end', path, 200, 'x'.repeat(2 * 1024 * 1024)],
    ['leads elsewhere', path, 302, ''],
    ['has an error of its own at /token', '/token', 503, 'x'],
    ['does not know us at /token', '/token', 401, '{"error":"invalid_client"}'],
    ['answers /token with a page', '/token', 200, '<html>'],
    ['has an error of its own at /jwks', '/jwks', 500, 'x'],
    ['has an error of its own at /me', '/me', 500, 'x'],
  ]
  test.each(rows)('that %s is one that cannot be asked', async (_what, path, status, text) => {
    const own = text === '' ? JSON.stringify({ issuer: provider().issuer }) : text
    provider().answers.set(path, (response) => {
      response.writeHead(status, { 'content-type': 'application/json', location: 'http://x.test/' })
      response.end(own)
    })
    const scene = await open()
    const last = await scene.logIn()
    expect([last.status, errorOf(last)]).toEqual([502, expect.stringMatching(/log in with a pass/)])
    expect(scene.log).toHaveLength(1)
  })

  test('that names an address elsewhere without TLS is not asked there', async () => {
    const { issuer } = provider()
    provider().answers.set(path, (response) => {
      response.writeHead(200, { 'content-type': 'application/json' })
      const authorization = { authorization_endpoint: `${issuer}/auth` }
      response.end(JSON.stringify({ issuer, ...authorization, token_endpoint: elsewhere }))
    })
    const scene = await open()
    const last = await scene.logIn(without(atCallback, 'iss'))
    expect([last.status, errorOf(last)]).toEqual([502, expect.stringMatching(/log in with a pass/)])
    expect(scene.log.join('\n')).toContain('an address without TLS that is not on this machine')
    expect(sessionOf(scene)).toBeUndefined()
  })

  test.each([elsewhere, 'http://localhost.test/', 'http://127.0.0.1.test/', 'ftp://idp.test/'])(
    'is not asked at %s',
    async (url) => {
      const fetch = boundedFetch(AbortSignal.abort())
      const options = { method: 'GET', headers: {}, body: null, redirect: 'manual' } as const
      await expect(fetch(url, options)).rejects.toThrow('without TLS')
    },
  )

  test('is asked once for a burst of logins, and not kept for long', async () => {
    const { browser, world } = await open()
    await Promise.all(Array.from({ length: 5 }, () => browser.get(start)))
    expect(provider().asked).toEqual([path])
    world.time.pass(10_000)
    await browser.get(start)
    expect(provider().asked).toEqual([path, path])
  })
})

test('secrets are never logged, whatever goes wrong', async () => {
  const seen: string[] = []
  const record = (next: URL): URL => {
    for (const name of ['code', 'state', 'nonce']) seen.push(next.searchParams.get(name) ?? '')
    return next
  }
  const scene = await open()
  await scene.logIn(record)
  provider().tamper = (claims) => ({ ...claims, aud: 'other' })
  await openBrowser(scene.hosts).follow(start, record)
  provider().answers.set('/token', (response) => response.writeHead(401).end('{"error":"x"}'))
  await openBrowser(scene.hosts).follow(start, record)
  const written = scene.log.join('\n')
  expect(scene.log).toHaveLength(3)
  const secrets = [clientSecret, encodeURIComponent(clientSecret), sessionOf(scene), ...seen]
  for (const secret of secrets.filter((text) => text !== undefined && text !== '')) {
    expect(written).not.toContain(secret)
  }
})
