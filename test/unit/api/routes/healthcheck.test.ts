import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { strictPolicy } from '#compiler/values/health-check-policy.ts'
import { probeFields, probeTypeNames } from '#probes/probe-types.ts'
import { keyOf, rootKey, startConfigWorld } from '#test/support/config-world.ts'
import type { ConfigWorld } from '#test/support/config-world.ts'

const acme = keyOf('acme')
const zenith = keyOf('zenith')
const noSuchId = '01976c1e-7e5c-7000-8000-00000000ffff'
const defaults = {
  type: 'tcp',
  port: 80,
  intervalMs: 10_000,
  timeoutMs: 2_000,
  riseCount: 1,
  fallCount: 1,
  scoreWindow: 0,
  ...Object.fromEntries(
    Object.entries(probeFields).map(([name, { schema }]) => [name, schema.default]),
  ),
}

const zeroOf = (value: unknown) =>
  typeof value === 'number' ? 0 : typeof value === 'string' ? '' : false

let world: ConfigWorld
let pools = 0
beforeAll(async () => {
  world = await startConfigWorld()
})
afterAll(() => world.close())

const call: ConfigWorld['call'] = (...args) => world.call(...args)

async function newPool(): Promise<string> {
  const { body } = await call(acme, 'POST', '/pools', { name: `hc-${++pools}` })
  return `/pools/${body.id}/healthcheck`
}

describe('health checks', () => {
  test('there is none at first; an empty one has the defaults', async () => {
    const path = await newPool()
    const none = await call(acme, 'GET', path)
    expect(none).toMatchObject({ status: 404, body: { error: 'there is no such health check' } })
    expect((await call(acme, 'DELETE', path)).status).toBe(404)
    const made = await call(acme, 'PUT', path, {})
    expect(made).toMatchObject({ status: 200, body: defaults })
    expect((await call(acme, 'GET', path)).body).toEqual(defaults)
  })

  test('zero values take defaults, but an expected status of 0 ignores the status', async () => {
    const zeros = Object.fromEntries(
      Object.entries(defaults).map(([name, value]) => [
        name,
        typeof value === 'object' ? value : zeroOf(value),
      ]),
    )
    const made = await call(acme, 'PUT', await newPool(), zeros)
    expect(made).toMatchObject({ status: 200, body: { ...defaults, httpExpectedStatus: 0 } })
  })

  test.each([
    {
      type: 'http',
      httpMethod: 'HEAD',
      httpHeaders: { 'X-Probe': 'gslbd', accept: 'text/plain' },
      httpExpectedStatuses: [200, '204', '300-399'],
    },
    { type: 'grpc', port: 50_051, grpcService: 'shop.v1.Cart', tls: true },
    { type: 'dns', port: 53, dnsName: 'www.example.com', dnsType: 'AAAA', dnsContains: '::1' },
    { type: 'dns', port: 53, dnsName: 'no.example.com', dnsRcode: 'NXDOMAIN' },
  ])('$type is shown as it was given: %j', async (fields) => {
    const path = await newPool()
    const made = await call(acme, 'PUT', path, fields)
    expect(made).toMatchObject({ status: 200, body: { ...defaults, ...fields } })
    expect((await call(acme, 'GET', path)).body).toEqual({ ...defaults, ...fields })
  })

  test('each call replaces the whole check', async () => {
    const path = await newPool()
    const fields = { type: 'http', port: 8080, httpPath: '/live', scoreWindow: 10, tls: true }
    expect((await call(acme, 'PUT', path, fields)).body).toEqual({ ...defaults, ...fields })
    expect((await call(acme, 'PUT', path, { port: 81 })).body).toEqual({ ...defaults, port: 81 })
    expect((await call(acme, 'DELETE', path)).status).toBe(204)
    expect((await call(acme, 'GET', path)).status).toBe(404)
  })

  test.each([
    [
      { type: 'udp' },
      `type: must be one of ${probeTypeNames.join(', ')}, not this text of 3 characters`,
    ],
    [
      { port: 65_536 },
      'port: must be a whole number from 1 to 65535, or 0 for the default 80, not 65536',
    ],
    [{ port: -1 }, 'port: '],
    [
      { intervalMs: 5 },
      'intervalMs: must be a whole number from 100 to 86400000, or 0 for the default 10000, not 5',
    ],
    [{ timeoutMs: 'fast' }, 'timeoutMs: '],
    [{ httpPath: 'live' }, 'httpPath: start it with "/", and write spaces as %20'],
    [{ webhookURL: 'x y' }, 'webhookURL: write it in ASCII, without spaces'],
    [{ tls: 1 }, 'tls: '],
    [{ type: 'webhook' }, 'webhookURL'],
    [{ webhookUrl: 'https://hc.example.com/' }, 'did you mean "webhookURL"?'],
    [{ type: 'webhook', webhookURL: 'https://:8443/' }, 'webhookURL: '],
    [{ httpExpectedStatuses: ['2xx'] }, 'httpExpectedStatuses.0: must be a status such as 200'],
    [{ httpExpectedStatuses: [20] }, 'httpExpectedStatuses.0: '],
    [{ httpExpectedStatuses: ['299-200'] }, 'httpExpectedStatuses.0: '],
    [{ httpHeaders: { Host: 'a' } }, 'httpHeaders.Host: '],
    [{ httpHeaders: { authorization: 'Bearer a' } }, 'httpHeaders.authorization: '],
    [{ httpHeaders: { 'a b': 'c' } }, 'httpHeaders'],
    [{ httpHeaders: { a: 'b\r\nc: d' } }, 'httpHeaders.a: must be printable ASCII'],
    [{ httpMethod: 'BREW' }, 'httpMethod: must be one of GET, HEAD'],
    [{ type: 'http', tls: true, clientCertificate: 'x' }, 'clientCertificate: '],
    [{ type: 'dns', port: 53 }, 'dnsName'],
    [{ type: 'dns', port: 53, dnsName: 'a..b' }, 'dnsName: '],
    [{ type: 'dns', dnsName: 'a.b', dnsContains: '::1' }, 'dnsContains: '],
  ])('%j is refused by field and reason', async (body, sentence) => {
    const answer = await call(acme, 'PUT', await newPool(), body)
    expect(answer.body.error).toContain(sentence)
    expect(answer.status).toBe(400)
  })

  test.each([
    'http://169.254.169.254/latest',
    'http://127.0.0.1/',
    'http://2130706433/',
    'http://[::1]/',
    'http://10.1.2.3/',
    'http://100.64.0.1/',
    'http://[fd00::1]/',
    'http://localhost/',
  ])('a webhook may not ask %s', async (webhookURL) => {
    // Nor later: another type only does not ask it yet.
    for (const type of ['webhook', 'tcp', undefined]) {
      const answer = await call(acme, 'PUT', await newPool(), { type, webhookURL })
      expect(answer.status).toBe(400)
      expect(answer.body.error).toMatch(/^webhookURL: .* internal address /)
    }
  })

  test('scripts need the setting of the node', async () => {
    const script = { type: 'script', scriptContent: 'exit 0' }
    const answer = await call(rootKey, 'PUT', await newPool(), script)
    expect(answer.status).toBe(403)
    expect(answer.body.error).toContain('health.allowScriptChecks')
  })

  test("below an unknown pool, and below another tenant's, there is nothing", async () => {
    const path = await newPool()
    await call(acme, 'PUT', path, {})
    for (const target of [path, `/pools/${noSuchId}/healthcheck`]) {
      for (const [method, sent] of [['GET'], ['PUT', {}], ['DELETE']] as const) {
        const answer = await call(zenith, method, target, sent)
        expect(answer).toMatchObject({ status: 404, body: { error: 'there is no such pool' } })
      }
    }
  })

  test('If-Match is for the state of the pool', async () => {
    const path = await newPool()
    const made = await call(acme, 'PUT', path, {})
    const tag = { 'if-match': made.headers['etag'] ?? '' }
    expect((await call(acme, 'PUT', path, { port: 81 }, tag)).status).toBe(200)
    expect((await call(acme, 'PUT', path, { port: 82 }, tag)).status).toBe(412)
  })
})

describe('on a node that runs scripts', () => {
  test('only a system administrator sets a script check', async () => {
    const checkPolicy = {
      ...strictPolicy,
      allowScriptChecks: true,
      webhookAllowedHosts: ['10.0.0.0/8'],
    }
    const allowing = await startConfigWorld({ checkPolicy })
    try {
      const { body } = await allowing.call(acme, 'POST', '/pools', { name: 'scripted' })
      const path = `/pools/${body.id}/healthcheck`
      const script = { type: 'script', scriptContent: 'exit 0' }
      expect((await allowing.call(acme, 'PUT', path, script)).status).toBe(403)
      const made = await allowing.call(rootKey, 'PUT', path, script)
      expect(made).toMatchObject({ status: 200, body: { ...defaults, ...script } })
      const webhook = { type: 'webhook', webhookURL: 'http://10.1.2.3/' }
      expect((await allowing.call(acme, 'PUT', path, webhook)).status).toBe(200)
    } finally {
      await allowing.close()
    }
  })
})
