// The API of redirects: what document and limits say, and whose they are.
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { everythingLicensed } from '#test/support/everything-licensed.ts'
import { keyOf, rootKey, startConfigWorld } from '#test/support/config-world.ts'
import type { ConfigWorld } from '#test/support/config-world.ts'

let isLicensed = true
const sentence = 'redirects need the tier paid'
const licence = { ...everythingLicensed, refusal: () => (isLicensed ? undefined : sentence) }
const hits = new Map<string, number>()
let world: ConfigWorld
beforeAll(async () => {
  world = await startConfigWorld({ ports: { licence, responseHits: async () => hits } })
})
afterAll(() => world.close())

const call = (method: string, path: string, body?: unknown, headers = {}, key = keyOf('acme')) =>
  world.call(key, method, `/redirects${path}`, body, headers)
const target = 'https://www.example.com/new'
let count = 0
const fresh = (more: object = {}) => ({
  sourceFqdn: `old-${++count}.example.com`,
  targetUrl: target,
  ...more,
})

describe('a new redirect', () => {
  test('has defaults and normal forms; its commit and its tag are in the answer', async () => {
    const made = await call('POST', '', { sourceFqdn: 'Old_A.Example.com.', targetUrl: target })
    expect([made.status, made.body]).toEqual([
      201,
      {
        id: expect.any(String) as string,
        tenantId: 'acme',
        sourceFqdn: 'old_a.example.com',
        targetUrl: target,
        code: 301,
        preservePath: true,
        hstsMaxAge: 0,
        hstsIncludeSubDomains: false,
        createdAt: expect.any(Number) as number,
        hitCount: 0,
      },
    ])
    expect(made.headers['x-gslb-revision']).toBe(world.git('rev-parse', 'main'))
    const { list } = await call('GET', '')
    expect(list).toContainEqual(made.body)
    const path = `main:tenants/acme/redirects/redirect-${made.body.id}.yaml`
    expect(world.git('show', path)).not.toMatch(/code|preservePath|hsts/)
  })

  test.each([
    [301, 301],
    [302, 302],
    [307, 307],
    [308, 308],
    [300, 301],
    [303, 301],
    [0, 301],
    [-1, 301],
    [200_000, 301],
  ])('with code %i has code %i', async (code, sent) => {
    expect((await call('POST', '', fresh({ code }))).body).toMatchObject({ code: sent })
  })

  test('may be without its path, and with HSTS', async () => {
    const more = { preservePath: false, hstsMaxAge: 31_536_000, hstsIncludeSubDomains: true }
    const made = await call('POST', '', fresh({ sourceFqdn: 'Gone.example.', ...more }))
    expect([made.status, made.body]).toMatchObject([201, { sourceFqdn: 'gone.example', ...more }])
  })

  const bad: readonly [what: string, body: object, says: string][] = [
    ['no host', { targetUrl: target }, 'sourceFqdn'],
    ['no target', { sourceFqdn: 'x.example' }, 'targetUrl'],
    ['an empty host', fresh({ sourceFqdn: '' }), 'sourceFqdn'],
    ['an empty target', fresh({ targetUrl: '' }), 'targetUrl'],
    ['a host with a port', fresh({ sourceFqdn: 'x.example:80' }), 'sourceFqdn'],
    ['a host that is a URL', fresh({ sourceFqdn: 'http://x.example' }), 'sourceFqdn'],
    ['a host with an empty label', fresh({ sourceFqdn: 'x..example' }), 'sourceFqdn'],
    ['a host with a blank', fresh({ sourceFqdn: 'x .example' }), 'sourceFqdn'],
    ['a long label', fresh({ sourceFqdn: `${'x'.repeat(64)}.example` }), 'sourceFqdn'],
    [
      'all names below a host',
      fresh({ sourceFqdn: '*.x.example' }),
      'sourceFqdn: must be one host',
    ],
    ['a wildcard alone', fresh({ sourceFqdn: '*' }), 'sourceFqdn'],
    ['a wildcard inside', fresh({ sourceFqdn: 'a.*.example' }), 'sourceFqdn'],
    ['a relative target', fresh({ targetUrl: '/new' }), 'targetUrl'],
    ['another scheme', fresh({ targetUrl: 'ftp://a.example/' }), 'targetUrl'],
    ['a script', fresh({ targetUrl: 'javascript:alert(1)' }), 'targetUrl'],
    ['a long target', fresh({ targetUrl: `https://a.example/${'x'.repeat(2_048)}` }), 'targetUrl'],
    ['a code as text', fresh({ code: '301' }), 'code'],
    ['a broken code', fresh({ code: 301.5 }), 'code'],
    ['a path as text', fresh({ preservePath: 'yes' }), 'preservePath'],
    ['too long a time', fresh({ hstsMaxAge: 63_072_001 }), 'hstsMaxAge'],
    ['an unknown field', fresh({ perservePath: true }), 'perservePath'],
    ...[...';{}#"\'\\ \t\n\u0000\u007f\u00a0'].map((odd): [string, object, string] => [
      `the character ${JSON.stringify(odd)}`,
      fresh({ targetUrl: `https://a.example/${odd}x` }),
      'targetUrl',
    ]),
  ]
  test.each(bad)('with %s is refused', async (_what, body, says) => {
    const answer = await call('POST', '', body)
    expect([answer.status, answer.text]).toEqual([400, expect.stringContaining(says)])
  })

  test('for a host that has one is refused, without naming its tenant', async () => {
    const body = fresh()
    expect((await call('POST', '', body)).status).toBe(201)
    const upper = { ...body, sourceFqdn: `${body.sourceFqdn.toUpperCase()}.` }
    const again = await call('POST', '', upper, {}, keyOf('zenith'))
    expect([again.status, again.text]).toEqual([409, expect.not.stringContaining('acme')])
  })

  test('needs a licence', async () => {
    isLicensed = false
    const answer = await call('POST', '', fresh())
    isLicensed = true
    expect([answer.status, answer.body]).toEqual([403, { error: sentence }])
  })

  test('that is only tried changes nothing', async () => {
    const before = (await call('GET', '')).text
    const tried = await call('POST', '?dryRun=true', fresh())
    expect([tried.status, tried.headers['x-gslb-dry-run']]).toEqual([201, expect.any(String)])
    expect((await call('GET', '')).text).toBe(before)
  })
})

describe('redirects of two tenants', () => {
  test('each sees and deletes its own; the system administrator those of both', async () => {
    const { id } = (await call('POST', '', fresh())).body
    const others = await call('GET', '', undefined, {}, keyOf('zenith'))
    expect(others.text).not.toContain(id)
    expect((await call('DELETE', `/${id}`, undefined, {}, keyOf('zenith'))).status).toBe(404)
    expect((await call('GET', '', undefined, {}, rootKey)).text).toContain(id)
    expect((await call('DELETE', `/${id}`)).status).toBe(204)
    expect((await call('DELETE', `/${id}`)).status).toBe(404)
  })
})

test('hits of all nodes are shown', async () => {
  const { id } = (await call('POST', '', fresh())).body
  hits.set(id, 7)
  const { list } = await call('GET', '')
  expect(list).toContainEqual(expect.objectContaining({ id, hitCount: 7 }))
})

test('a deletion may name the version that it is about', async () => {
  const made = await call('POST', '', fresh())
  const path = `/${made.body.id}`
  expect((await call('DELETE', path, undefined, { 'if-match': '"other"' })).status).toBe(412)
  const etag = String(made.headers['etag'])
  expect((await call('DELETE', path, undefined, { 'if-match': etag })).status).toBe(204)
})
