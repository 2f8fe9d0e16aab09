import { randomUUID } from 'node:crypto'
import { Script } from 'node:vm'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { apiLimits } from '#http/limits.ts'
import { auditLine } from '#api/server/audit.ts'
import { PageAudit, pageAuditMs } from '#api/server/page-audit.ts'
import { createNodeRum } from '#node/api/rum.ts'
import { RumStore } from '#inputs/rum/rum-store.ts'
import type { AuditEntry } from '#state/ports/audit.ts'
import { FakeTime } from '#test/support/fake-time.ts'
import { keyOf, rootKey, startConfigWorld } from '#test/support/config-world.ts'
import type { ConfigWorld } from '#test/support/config-world.ts'
import {
  ingestPath,
  measured,
  membersOfMany,
  rumScene,
  unmeasured,
} from '#test/support/rum-scene.ts'

const forPages = { forPages: true }
const sample = (ip: string, latencyMs: number) => ({ ip, latencyMs })
const bodyOf = (domain: string, ...samples: object[]): string => JSON.stringify({ domain, samples })
const good = bodyOf('www.example.org', sample(measured[0], 20))
const [, second] = measured
const { bodyBytesMax, samplesMax, burst } = apiLimits.rum

describe('the script', () => {
  test('is plain JavaScript for pages of any site, and caches may keep it', async () => {
    const answer = await rumScene().app.inject('/api/v1/rum.js')
    expect(answer.statusCode).toBe(200)
    expect(answer.headers).toMatchObject({
      'content-type': 'text/javascript; charset=utf-8',
      'cache-control': 'public, max-age=3600',
      'access-control-allow-origin': '*',
      'cross-origin-resource-policy': 'cross-origin',
    })
    expect(() => new Script(answer.payload)).not.toThrow()
    expect(answer.payload.length).toBeLessThan(4_096)
  })
})

describe('the targets of a domain', () => {
  const ask = async (query: string, scene = rumScene()) => {
    const answer = await scene.app.inject(`/api/v1/rum/config${query}`)
    return { status: answer.statusCode, body: answer.json<{ targets: { ip: string }[] }>(), answer }
  }

  test('are the members of its pool that have a rumUrl', async () => {
    const { body, answer } = await ask('?domain=WWW.example.org')
    expect(body).toEqual({
      domain: 'WWW.example.org',
      targets: [
        { ip: '192.0.2.1', rumUrl: 'https://m1.example.org/ping' },
        { ip: '2001:db8::2', rumUrl: 'https://m2.example.org/ping' },
      ],
    })
    expect(answer.headers).toMatchObject({
      'access-control-allow-origin': '*',
      'cache-control': 'no-store',
    })
  })

  test.each(['nothing.example.org', 'example.org', '...', '192.0.2.1'])(
    'are none for %s',
    async (domain) => {
      expect(await ask(`?domain=${domain}`)).toMatchObject({ status: 200, body: { targets: [] } })
    },
  )

  test.each([
    ['no domain', ''],
    ['an empty one', '?domain='],
    ['another parameter', '?name=www.example.org'],
    ['one of 1,025 characters', `?domain=${'a'.repeat(1_025)}`],
  ])('are not told to %s', async (_, query) => {
    const { status, answer } = await ask(query)
    expect([status, answer.headers['access-control-allow-origin']]).toEqual([400, '*'])
  })

  test('take turns in a large pool', async () => {
    const scene = rumScene()
    const seen = new Set<string>()
    for (let i = 0; i < 2; i++) {
      const { body } = await ask('?domain=many.example.org', scene)
      expect(new Set(body.targets.map(({ ip }) => ip)).size).toBe(samplesMax)
      for (const { ip } of body.targets) seen.add(ip)
    }
    expect(seen.size).toBe(membersOfMany)
  })
})

describe('samples', () => {
  test.each([
    ['of members count', [sample(measured[0], 20), sample(second, 60_000)], 2],
    ['of an IPv6 member count however it is written', [sample('2001:DB8:0::2', 1)], 1],
    ['of a member without a rumUrl are rejected', [sample(unmeasured, 20)], 0],
    ['of another pool’s member are rejected', [sample('198.51.100.1', 20)], 0],
    ['of what is no address are rejected', [sample('www', 20)], 0],
    ['of no time are rejected', [sample(measured[0], 0), sample(measured[0], -1)], 0],
    ['of too long a time are rejected', [sample(measured[0], 60_000.1)], 0],
    ['are judged one by one', [sample(unmeasured, 20), sample(second, 20)], 1],
  ])('%s', async (_, samples, accepted) => {
    const { post, store } = rumScene()
    const answer = await post(bodyOf('www.example.org', ...samples))
    expect([answer.statusCode, answer.json()]).toEqual([
      200,
      { accepted, rejected: samples.length - accepted },
    ])
    expect(store.status().measurements).toBe(accepted)
    expect(answer.headers['access-control-allow-origin']).toBe('*')
  })

  const full = Array.from({ length: samplesMax }, () => sample(measured[0], 20))
  const padded = (bytes: number): string => good.padEnd(bytes)
  test.each([
    ['32 samples', 200, bodyOf('www.example.org', ...full)],
    ['33 samples', 400, bodyOf('www.example.org', ...full, full[0]!)],
    ['no sample', 400, bodyOf('www.example.org')],
    ['8 KB', 200, padded(bodyBytesMax)],
    ['more than 8 KB', 413, padded(bodyBytesMax + 1)],
    ['no domain', 400, JSON.stringify({ samples: full })],
    ['a latency in text', 400, bodyOf('www.example.org', { ip: measured[0], latencyMs: '20' })],
    ['what is not JSON', 400, '{'],
    ['nothing', 400, ''],
    ['octets that are no text', 400, Buffer.of(0x22, 0xff, 0x22)],
  ])('a body of %s is answered %i', async (_, status, payload) => {
    const answer = await rumScene().post(payload)
    expect(answer.statusCode, answer.payload).toBe(status)
  })

  test.each(['text/plain', 'application/json', 'application/x-www-form-urlencoded'])(
    'may come as %s',
    async (type) => {
      const { statusCode } = await rumScene().post(good, { headers: { 'content-type': type } })
      expect(statusCode).toBe(200)
    },
  )

  test('are one line of the audit log for each outcome, with how many there were', async () => {
    const { app, post, audit } = rumScene()
    for (let i = 0; i < 3; i++) expect((await post(good)).statusCode).toBe(200)
    for (let i = 0; i < 2; i++) expect((await post('{}')).statusCode).toBe(400)
    await app.inject('/api/v1/rum/config?domain=www.example.org')
    expect(audit).toEqual([])
    await app.close()
    const line = { method: 'POST', path: ingestPath, actor: 'anon', remote: '' }
    expect(audit).toMatchObject([
      { ...line, status: 200, requests: 3, requestId: null },
      { ...line, status: 400, requests: 2, requestId: null },
    ])
    expect(auditLine(audit[0]!)).toMatchObject({ requests: 3, tenant: 'default' })
  })

  test('are written a minute after the first, and then anew', () => {
    const time = new FakeTime(0)
    const audit: AuditEntry[] = []
    const pages = new PageAudit({ write: (entry) => audit.push(entry) }, time.clock, time.after)
    const note = (): void => {
      const routeOptions = { url: ingestPath, config: forPages }
      const request = { method: 'POST', url: ingestPath, routeOptions }
      pages.note(request, { statusCode: 200, elapsedTime: 2 })
    }
    for (let i = 0; i < 1_000; i++) note()
    time.pass(pageAuditMs - 1)
    expect(audit).toEqual([])
    time.pass(1)
    expect(audit).toMatchObject([{ requests: 1_000, durationMs: 2_000, atMs: pageAuditMs }])
    time.pass(10 * pageAuditMs)
    note()
    time.pass(pageAuditMs)
    expect(audit.map(({ requests }) => requests)).toEqual([1_000, 1])
  })

  test('come from pages of any site, and fill no audit log', async () => {
    const { post, audit } = rumScene()
    const headers = { origin: 'https://shop.example', 'sec-fetch-site': 'cross-site' }
    expect((await post(good, { headers })).statusCode).toBe(200)
    expect(audit).toEqual([])
  })

  test('may be announced by a preflight', async () => {
    const { app } = rumScene()
    const headers = {
      origin: 'https://shop.example',
      'access-control-request-method': 'POST',
      'access-control-request-headers': 'content-type',
    }
    const answer = await app.inject({ method: 'OPTIONS', url: ingestPath, headers })
    expect(answer.statusCode).toBe(204)
    expect(answer.headers).toMatchObject({
      'access-control-allow-origin': '*',
      'access-control-allow-methods': 'POST',
      'access-control-allow-headers': 'content-type',
    })
    const other = await app.inject({ method: 'OPTIONS', url: '/api/v1/pools', headers })
    expect(other.statusCode).toBe(405)
    expect(other.headers['access-control-allow-origin']).toBeUndefined()
  })
})

describe('the client', () => {
  const headers = { 'x-forwarded-for': '203.0.113.9' }
  const other = { 'x-forwarded-for': '203.0.114.9' }

  test('is whoever connects, when no proxy is trusted', async () => {
    const { post, store } = rumScene()
    for (const claim of [headers, other]) await post(good, { headers: claim })
    expect(store.status().subnets).toBe(1)
  })

  test('is whom a trusted proxy names', async () => {
    const { post, store } = rumScene(['127.0.0.0/8'])
    for (const claim of [headers, other]) await post(good, { headers: claim })
    expect(store.status().subnets).toBe(2)
    await post(good, { headers, remoteAddress: '198.51.100.1' })
    expect(store.status().subnets).toBe(3)
  })

  test.each([
    ['198.51.100.7', 200],
    ['::ffff:198.51.100.7', 200],
    ['2001:db8::7', 200],
    ['fe80::1%eth0', 200],
  ])('may be %s', async (remoteAddress, status) => {
    expect((await rumScene().post(good, { remoteAddress })).statusCode).toBe(status)
  })

  test('is no word of a proxy that is no address', async () => {
    const { post, store } = rumScene(['127.0.0.1'])
    const answer = await post(good, { headers: { 'x-forwarded-for': 'unknown' } })
    expect([answer.statusCode, answer.json()]).toEqual([
      400,
      { error: 'X-Forwarded-For: must end in the address of the client, without a port' },
    ])
    expect(store.status().measurements).toBe(0)
  })

  test('may send ten times at once, then twice a second, whatever it sends', async () => {
    const { post, time } = rumScene()
    const statuses = async (payload: string, count: number) => {
      const answers = []
      for (let i = 0; i < count; i++) answers.push((await post(payload)).statusCode)
      return answers
    }
    expect(await statuses('{', burst)).toEqual(Array<number>(burst).fill(400))
    const refused = await post(good)
    expect([refused.statusCode, refused.headers['retry-after']]).toEqual([429, '1'])
    expect(refused.headers['access-control-allow-origin']).toBe('*')
    time.pass(1_000)
    expect(await statuses(good, 3)).toEqual([200, 200, 429])
    expect((await post(good, { remoteAddress: '198.51.100.7' })).statusCode).toBe(200)
  })
})

describe('the status', () => {
  // Nothing gets older.
  const store = new RumStore({ nowMs: () => 0, monotonicMs: () => 0 })
  let world: ConfigWorld
  beforeAll(async () => {
    world = await startConfigWorld({ ports: { rum: createNodeRum(store, () => undefined) } })
  })
  afterAll(() => world.close())

  const memberOf = async (tenant: string) => {
    const { status, text, body } = await world.call(keyOf(tenant), 'POST', '/pools', {
      name: tenant,
    })
    expect(status, text).toBe(201)
    const member = { ipAddress: '192.0.2.10', port: 80, rumUrl: 'https://m.example.org/' }
    const made = await world.call(keyOf(tenant), 'POST', `/pools/${body.id}/members`, member)
    expect(made.status, made.text).toBe(201)
    return { memberId: made.body.id, poolId: body.id, ipAddress: '192.0.2.10' }
  }
  const record = (client: number, memberId: string): void => {
    const octets = Uint8Array.from(Buffer.from(memberId.replaceAll('-', ''), 'hex'))
    store.record(Uint8Array.of(198, 51, client, 1), new Uint32Array(octets.buffer), 10, 1)
  }

  test('counts what is fresh, of the caller’s members only', async () => {
    const acme = await memberOf('acme')
    const zenith = await memberOf('zenith')
    for (const [client, memberId] of [
      [1, acme.memberId],
      [2, acme.memberId],
      [2, zenith.memberId],
      [3, randomUUID()],
    ] as const) {
      record(client, memberId)
    }
    const seen = async (by: string): Promise<unknown> =>
      JSON.parse((await world.call(by, 'GET', '/rum/status')).text)
    const ofAcme = { ...acme, subnets: 2 }
    const ofZenith = { ...zenith, subnets: 1 }
    expect(await seen(keyOf('acme'))).toEqual({ subnets: 2, measurements: 2, members: [ofAcme] })
    expect(await seen(keyOf('zenith'))).toEqual({
      subnets: 1,
      measurements: 1,
      members: [ofZenith],
    })
    const both = [ofAcme, ofZenith].toSorted((a, b) => (a.memberId < b.memberId ? -1 : 1))
    expect(await seen(rootKey)).toEqual({ subnets: 2, measurements: 3, members: both })
    const networksOf = async (by: string): Promise<unknown> =>
      JSON.parse((await world.call(by, 'GET', '/rum/networks')).text)
    const [one, two] = ['198.51.1.0/24', '198.51.2.0/24']
    expect(await networksOf(keyOf('acme'))).toEqual({
      sampled: 2,
      networks: { [one]: 1, [two]: 1 },
    })
    expect(await networksOf(keyOf('zenith'))).toEqual({ sampled: 1, networks: { [two]: 1 } })
    expect(await networksOf(rootKey)).toEqual({ sampled: 3, networks: { [one]: 1, [two]: 2 } })
  })
})
