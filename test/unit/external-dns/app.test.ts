// The listener for external-dns: what it negotiates, who may speak, what it refuses.
import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import type { InjectOptions } from 'fastify'
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { createExternalDnsApp } from '#external-dns/app.ts'
import type { AuditEntry } from '#state/ports/audit.ts'
import { externalDnsLimits } from '#external-dns/limits.ts'
import { keyOf, writeRequest } from '#test/support/config-world.ts'
import { mediaType } from '#test/support/external-dns-document.ts'
import { startExternalDnsWorld } from '#test/support/external-dns-world.ts'
import type { ExternalDnsWorld } from '#test/support/external-dns-world.ts'

let site: ExternalDnsWorld
beforeAll(async () => {
  site = await startExternalDnsWorld()
})
afterAll(() => site.close())
beforeEach(() => site.refused.splice(0))

const post = { 'content-type': mediaType }
async function call(
  method: 'GET' | 'POST',
  url: string,
  headers: Record<string, string> = {},
  payload?: string,
  app = site.app,
) {
  const options: InjectOptions = {
    method,
    url,
    headers,
    ...(payload === undefined ? {} : { payload }),
  }
  const answer = await app.inject(options)
  const { statusCode: status, payload: text } = answer
  const { error = '' } = text.startsWith('{') ? (JSON.parse(text) as { error?: string }) : {}
  return { status, text, error, headers: answer.headers }
}

const one = (dnsName: string, more: object = {}): string =>
  JSON.stringify({ create: [{ dnsName, recordType: 'A', targets: ['192.0.2.1'], ...more }] })

describe('negotiation', () => {
  test('the domains of the tenant are the filter, without what is given to others', async () => {
    const { status, text, headers } = await call('GET', '/', { accept: mediaType })
    expect(status).toBe(200)
    expect(headers).toMatchObject({ 'content-type': mediaType, vary: 'Content-Type' })
    expect(JSON.parse(text)).toEqual({
      filters: ['acme.example'],
      include: ['acme.example'],
      exclude: ['zenith.acme.example'],
    })
  })

  test('a tenant without a domain is told to wait: no filter means all names', async () => {
    const tenant = {
      verb: 'create',
      kind: 'Tenant',
      tenant: 'bare',
      name: 'bare',
      spec: {},
    } as const
    expect(await site.world.ports.configWriter.write(writeRequest([tenant]))).toMatchObject({
      ok: true,
    })
    const bare = createExternalDnsApp(site.world.ports, 'bare')
    const { status, error } = await call('GET', '/', {}, undefined, bare)
    expect([status, error]).toEqual([503, expect.stringContaining('has no domain yet')])
    await bare.close()
  })

  test('healthz needs no credential', async () => {
    const { status, text } = await call('GET', '/healthz', {}, undefined, site.remote)
    expect([status, text]).toEqual([200, 'ok\n'])
  })
})

describe('authentication', () => {
  const basic = (user: string, password: string): string =>
    `Basic ${Buffer.from(`${user}:${password}`).toString('base64')}`
  const rows: readonly [
    headers: Record<string, string>,
    status: number,
    filters: string[] | null,
  ][] = [
    [{}, 401, null],
    [{ authorization: basic('external-dns', keyOf('acme')) }, 200, ['acme.example']],
    [{ authorization: `Bearer ${keyOf('zenith')}` }, 200, ['zenith.acme.example']],
    [{ authorization: basic('external-dns', keyOf('nobody')) }, 401, null],
    [{ authorization: basic('', '') }, 401, null],
    [{ authorization: 'Negotiate abc' }, 401, null],
  ]
  test.each(rows)('%j is answered with %i', async (headers, status, filters) => {
    const answer = await call('GET', '/', headers, undefined, site.remote)
    expect(answer.status).toBe(status)
    if (filters !== null) expect(JSON.parse(answer.text)).toMatchObject({ filters })
  })

  test('a wrong credential is refused, also where none is needed', async () => {
    const { status } = await call('GET', '/', { authorization: 'Bearer wrong' })
    expect(status).toBe(401)
  })

  test.each([{ origin: 'http://127.0.0.1' }, { 'sec-fetch-site': 'cross-site' }])(
    'a page in a browser is refused: %j',
    async (headers) => {
      expect((await call('GET', '/records', headers as Record<string, string>)).status).toBe(403)
    },
  )

  test('a proxy on this machine, which speaks for others, needs a credential', async () => {
    const forwarded = { 'x-forwarded-for': '198.51.100.7' }
    expect((await call('GET', '/', forwarded)).status).toBe(401)
    const authorization = `Bearer ${keyOf('acme')}`
    expect((await call('GET', '/', { ...forwarded, authorization })).status).toBe(200)
  })

  test('a name that others can point at this machine is refused', async () => {
    const { status, error } = await call('GET', '/', { host: 'evil.example' })
    expect([status, error]).toEqual([403, expect.stringContaining('without a key in the request')])
  })

  const key = keyOf('acme')
  const marks: readonly [what: string, headers: Record<string, string>, actor: string][] = [
    [
      'a key as the password of Basic',
      { authorization: basic('external-dns', key) },
      key.slice(-4),
    ],
    ['a key as Bearer', { authorization: `Bearer ${key}` }, key.slice(-4)],
    ['a password that is no key', { authorization: basic('joe', 'hunter2hunter2') }, 'anon'],
    ['nothing', {}, 'anon'],
  ]
  test.each(marks)('the audit log marks %s', async (_, headers, actor) => {
    const entries: AuditEntry[] = []
    const audit = { ...site.world.ports.audit, write: (entry: AuditEntry) => entries.push(entry) }
    const app = createExternalDnsApp({ ...site.world.ports, audit }, 'acme')
    await call('POST', '/records', { ...post, ...headers }, '{}', app)
    expect(entries.map((entry) => entry.actor)).toEqual([actor])
    await app.close()
  })

  test.each(['/records', '/records?x=1', '/records#x', '/%72ecords'])(
    'a request to %s is audited, timed and counted once',
    async (url) => {
      const seen: string[] = []
      const app = createExternalDnsApp(
        {
          ...site.world.ports,
          audit: { ...site.world.ports.audit, write: ({ status }) => seen.push(`${status}`) },
          requestTimes: { ended: ({ route }) => seen.push(route) },
          countCall: (tenant) => seen.push(tenant),
        },
        'acme',
      )
      expect((await call('POST', url, post, '{}', app)).status).toBe(204)
      expect(seen).toEqual(['/records', '204', 'acme'])
      await app.close()
    },
  )
})

describe('versions', () => {
  const other = mediaType.replace('=1', '=2')
  test.each(['/', '/records'])('GET %s in another version is 406', async (url) => {
    const { status, error } = await call('GET', url, { accept: other })
    expect([status, error]).toEqual([406, expect.stringContaining(mediaType)])
  })

  test.each([other, 'application/json', 'text/plain'])(
    'a body of the type %s is 415',
    async (type) => {
      const { status, error } = await call('POST', '/records', { 'content-type': type }, '{}')
      expect([status, error]).toEqual([415, expect.stringContaining(mediaType)])
    },
  )

  test('a body without a type is 415', async () => {
    expect((await call('POST', '/records', {}, '{}')).status).toBe(415)
  })
})

describe('refused requests', () => {
  test('a body of 10 MiB is 413, before it is read', async () => {
    for (const url of ['/records', '/adjustendpoints']) {
      const { status, error } = await call('POST', url, post, ' '.repeat(10 * 1024 * 1024))
      expect([status, error]).toEqual([413, expect.stringContaining('4194304 octets')])
    }
  })

  const rows: readonly [body: string, status: number, said: string][] = [
    ['', 400, 'body'],
    ['[]', 400, 'an object'],
    ['{', 400, 'is not JSON'],
    ['{"create":7}', 400, 'create'],
    ['{"create":[7]}', 400, 'create.0'],
    ['{"create":[{"recordType":"A"}]}', 400, 'dnsName'],
    [one('a..b'), 400, '"a..b" is not a domain name'],
    [one(''), 400, 'dnsName'],
    [one('www.acme.example', { recordType: 'WKS' }), 400, 'recordType WKS is not known'],
    [one('www.acme.example', { targets: ['lb'] }), 400, '"lb" is no target of type A'],
    [one('www.acme.example', { recordTTL: -1 }), 400, 'recordTTL'],
    ['{"create":{}}', 400, 'create: must be a list of 10000 entries or less or null, not an'],
    [one('www.acme.example', { targets: [] }), 400, 'www.acme.example A has no targets'],
    [one('www.acme.example', { targets: null }), 400, 'create.0: www.acme.example A has no'],
    [one('www.acme.example', { setIdentifier: 'x'.repeat(129) }), 400, 'setIdentifier'],
    [one('www.example.net'), 403, 'www.example.net is in no domain of tenant "acme"'],
    [one('www.zenith.acme.example'), 403, 'www.zenith.acme.example is in no domain'],
    [one('xacme.example'), 403, 'xacme.example is in no domain'],
    [
      one('www.acme.example', {
        setIdentifier: 'a',
        providerSpecific: [{ name: 'gslbd/wieght', value: '1' }],
      }),
      400,
      'there is no gslbd/wieght',
    ],
    [
      one('www.acme.example', {
        providerSpecific: [{ name: 'webhook/gslbd-weight', value: '-3' }],
      }),
      400,
      'gslbd/weight must be a whole number',
    ],
    [
      one('www.acme.example', { providerSpecific: [{ name: 'gslbd/health-check', value: 'x' }] }),
      400,
      'gslbd/health-check must be an object in JSON',
    ],
    [
      one('www.acme.example', {
        providerSpecific: [{ name: 'gslbd/health-check', value: '{"type":"htp"}' }],
      }),
      400,
      'htp',
    ],
  ]
  test.each(rows)('%s', async (body, status, said) => {
    const head = site.head()
    const answer = await call('POST', '/records', post, body)
    expect([answer.status, answer.error]).toEqual([status, expect.stringContaining(said)])
    expect(site.head()).toBe(head)
  })

  test('the reason of a refusal is in the log, since external-dns does not say it', async () => {
    await call('POST', '/records', post, one('www.example.net'))
    expect(site.refused).toEqual([
      expect.objectContaining({
        status: 403,
        reason: expect.stringContaining('www.example.net') as string,
      }),
    ])
  })

  test.each([
    [
      '/adjustendpoints',
      '{}',
      'body: must be a list of 10000 entries or less or null, not an object',
    ],
    [
      '/records',
      one('a.acme.example', { recordTTL: -5 }),
      'create.0.recordTTL: must be a whole number from 0 to 2147483647, not -5',
    ],
    [
      '/records',
      one('a.acme.example', { targets: [7] }),
      'create.0.targets.0: must be a text of 65535 characters or less, not 7',
    ],
  ])('%s %s is told the fault and nothing else', async (url, body, said) => {
    expect((await call('POST', url, post, body)).error).toBe(said)
  })

  test('a single name outside refuses all of the request', async () => {
    const head = site.head()
    const list = ['one.acme.example', 'two.example.net'].map((dnsName) => ({
      ...{ dnsName, recordType: 'A', targets: ['192.0.2.1'] },
    }))
    const { status } = await call('POST', '/records', post, JSON.stringify({ create: list }))
    expect([status, site.head()]).toEqual([403, head])
  })

  test('more endpoints than a list may have are refused', async () => {
    const list = Array.from({ length: externalDnsLimits.endpointsMax + 1 }, () => ({
      ...{ dnsName: 'a.acme.example', recordType: 'A' },
    }))
    const { status, error } = await call('POST', '/records', post, JSON.stringify({ create: list }))
    expect([status, error]).toEqual([400, expect.stringContaining('create')])
  })

  test.each([
    '{"create":[%]}',
    '{"create":[{"dnsName":"a.acme.example","recordType":"A","targets":[%]}]}',
  ])('a million wrong entries in %s cost one fault', async (form) => {
    const body = form.replace('%', '1,'.repeat(1_000_000).slice(0, -1))
    const { status, error } = await call('POST', '/records', post, body)
    expect(status).toBe(400)
    expect(error.length).toBeLessThan(1_000)
  })

  test('other paths are 404', async () => {
    expect((await call('GET', '/api/v1/pools')).status).toBe(404)
  })
})

describe('adjusted endpoints', () => {
  const adjusted = async (...list: object[]): Promise<unknown> => {
    const { status, text } = await call('POST', '/adjustendpoints', post, JSON.stringify(list))
    expect(status).toBe(200)
    return JSON.parse(text)
  }

  test('no endpoints are none, and null is none', async () => {
    expect(await adjusted()).toEqual([])
    const { status, text } = await call('POST', '/adjustendpoints', post, 'null')
    expect([status, text]).toEqual([200, '[]'])
  })

  test('targets come back in one form, properties of other providers do not', async () => {
    const given = {
      ...{
        dnsName: 'WWW.acme.example',
        recordType: 'CNAME',
        targets: ['LB.example.net.'],
        recordTTL: 60,
      },
      labels: { resource: 'ingress/x/web' },
      providerSpecific: [{ name: 'aws/weight', value: '10' }],
    }
    const { providerSpecific: _, ...rest } = given
    const plain = { ...rest, dnsName: 'www.acme.example', targets: ['lb.example.net'] }
    expect(await adjusted(given)).toEqual([plain])
  })

  test('a CNAME at the apex of a zone becomes an alias', async () => {
    const given = { dnsName: 'acme.example', recordType: 'CNAME', targets: ['lb.example.net'] }
    expect(await adjusted(given)).toEqual([
      { ...given, providerSpecific: [{ name: 'alias', value: 'true' }] },
    ])
  })

  test('annotations become properties, and those with their default are left out', async () => {
    const properties = (list: [string, string][]) => list.map(([name, value]) => ({ name, value }))
    const given = {
      ...{
        dnsName: 'www.acme.example',
        recordType: 'A',
        targets: ['192.0.2.1'],
        setIdentifier: 'a',
      },
      providerSpecific: properties([
        ['webhook/gslbd-weight', '03'],
        ['webhook/gslbd-region', 'DE'],
        ['gslbd/port', '443'],
        ['gslbd/health-check', '{"port":80,"type":"tcp","intervalMs":5000,"timeoutMs":2000}'],
      ]),
    }
    expect(await adjusted(given)).toEqual([
      {
        ...given,
        providerSpecific: properties([
          ['gslbd/health-check', '{"type":"tcp","intervalMs":5000}'],
          ['gslbd/pool', 'www.acme.example'],
          ['gslbd/region', 'DE'],
          ['gslbd/weight', '3'],
        ]),
      },
    ])
  })

  test('an unreadable endpoint comes back as it is: left out, it would be deleted', async () => {
    const list = [
      { dnsName: 'www.acme.example', recordType: 'A', targets: ['lb'] },
      { dnsName: 'grün.example', recordType: 'A', targets: ['192.0.2.1'] },
    ]
    expect(await adjusted(...list)).toEqual(list)
  })
})

describe('collected bodies', () => {
  const folder = join(import.meta.dirname, '../../fuzz/corpus/external-dns')
  test.each(readdirSync(folder))('%s is answered, and changes nothing', async (file) => {
    const body = readFileSync(join(folder, file), 'utf8')
    const head = site.head()
    for (const url of ['/records', '/adjustendpoints']) {
      const { status } = await call('POST', url, post, body)
      expect(status).toBeLessThan(500)
    }
    expect(site.head()).toBe(head)
  })
})
