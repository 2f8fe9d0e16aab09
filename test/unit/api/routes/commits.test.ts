// Several writes as one commit, and the subject that a person gives a commit.
import { once } from 'node:events'
import { request as httpRequest } from 'node:http'
import type { IncomingMessage } from 'node:http'
import { json } from 'node:stream/consumers'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { assert } from '#lib/assert.ts'
import { keyOf, rootKey, startConfigWorld } from '#test/support/config-world.ts'
import type { Answered, ConfigWorld } from '#test/support/config-world.ts'

const [acme, zenith] = [keyOf('acme'), keyOf('zenith')]
let world: ConfigWorld
/** Where it listens, once a test has needed a real connection. */
let url: string | undefined
const ids = { pool: '', member: '', service: '' }

beforeAll(async () => {
  world = await startConfigWorld()
  const make = async (path: string, body: unknown): Promise<string> => {
    const answer = await world.call(acme, 'POST', path, body)
    assert(answer.status === 201, answer.text)
    return answer.body.id
  }
  ids.pool = await make('/pools', { name: 'web' })
  ids.member = await make(`/pools/${ids.pool}/members`, { ipAddress: '192.0.2.1', port: 80 })
  const service = { name: 'www', domain: 'www.example.com.', poolId: ids.pool }
  ids.service = await make('/services', { ...service, algorithm: 'round-robin' })
})
afterAll(() => world.close())

type Asked = readonly [method: string, path: string, body?: unknown, ifMatch?: string | undefined]
const api = (path: string): string => `/api/v1${path}`
type Made = Answered & { readonly body: { readonly commit: string; readonly ids: string[] } }
const commit = (
  by: string,
  requests: readonly Asked[],
  more: { readonly query?: string; readonly headers?: Record<string, string> } = {},
): Promise<Made> => {
  const listed = requests.map(([method, path, body, ifMatch]) => ({
    ...{ method, path: api(path) },
    ...(body === undefined ? {} : { body }),
    ...(ifMatch === undefined ? {} : { ifMatch }),
  }))
  const path = `/commits${more.query ?? ''}`
  return world.call(by, 'POST', path, { requests: listed }, more.headers) as Promise<Made>
}
const head = (): string => world.git('rev-parse', 'main')
const message = (): string => world.git('log', '-1', '--format=%B', 'main')
const tagOf = async (path: string): Promise<string> =>
  (await world.call(acme, 'GET', path)).headers['etag'] ?? ''

describe('several writes', () => {
  test('are one commit of all operations; later ones build on those before', async () => {
    const before = head()
    const { status, body, headers } = await commit(acme, [
      ['POST', '/pools', { name: 'new' }],
      ['POST', '/pools/$0/members', { ipAddress: '192.0.2.9', port: 80 }],
      ['PATCH', `/services/${ids.service}`, { ttl: 7, poolId: '$0' }],
      ['DELETE', `/members/${ids.member}`],
    ])
    expect([status, body.commit, headers['x-gslb-revision']]).toEqual([201, head(), head()])
    expect(world.git('rev-parse', 'main~1')).toBe(before)
    expect(message()).toMatch(/^api: 4 changes\n/)
    expect(message().match(/Gslb-Operation: (?:create|update|delete) \w+/g)).toEqual([
      ...['create Pool', 'create Member', 'update Service', 'delete Member'].map(
        (words) => `Gslb-Operation: ${words}`,
      ),
    ])
    const service = await world.call(acme, 'GET', `/services/${ids.service}`)
    expect(service.body).toMatchObject({ ttl: 7, poolId: body.ids[0] })
    expect(body.ids.slice(2)).toEqual([ids.service, ''])
    const members = await world.call(acme, 'GET', `/pools/${body.ids[0]}/members`)
    expect(members.list.map(({ ipAddress }) => ipAddress)).toEqual(['192.0.2.9'])
  })

  test('no other field than one of an id is filled with one', async () => {
    const { body } = await commit(acme, [
      ['POST', '/pools', { name: 'one' }],
      ['POST', '/pools', { name: '$0' }],
    ])
    const pool = await world.call(acme, 'GET', `/pools/${body.ids[1]}`)
    expect(pool.body).toMatchObject({ name: '$0' })
  })

  const refusals: readonly (readonly [
    string,
    by: string,
    asked: () => readonly Asked[],
    status: number,
    error: RegExp,
  ])[] = [
    [
      'one that does not compile',
      acme,
      () => [
        ['PATCH', `/services/${ids.service}`, { ttl: 8 }],
        ['POST', `/pools/${ids.pool}/members`, { ipAddress: '300.1.1.1', port: 80 }],
      ],
      400,
      /^requests\.1: ipAddress/,
    ],
    [
      'an object of others',
      zenith,
      () => [
        ['POST', '/pools', { name: 'mine' }],
        ['PATCH', `/services/${ids.service}`, { ttl: 8 }],
      ],
      404,
      /^requests\.1: there is no such service/,
    ],
    [
      'a name that one before has taken',
      acme,
      () => [
        ['POST', '/pools', { name: 'twice' }],
        ['POST', '/pools', { name: 'twice' }],
      ],
      409,
      /^requests\.1: /,
    ],
    ['what is not in Git', rootKey, () => [['POST', '/users', {}]], 404, /no write of the conf/],
    // Beside the commit it makes a key, which only its own answer has.
    ['a tenant', rootKey, () => [['POST', '/tenants', { name: 'x' }]], 404, /no write of the/],
    ['a commit', acme, () => [['POST', '/commits', { requests: [] }]], 404, /no write of the conf/],
    ['nothing', acme, () => [], 400, /requests/],
  ]
  test.each(refusals)('change nothing with %s among them', async (_, by, asked, status, error) => {
    const before = head()
    const answer = await commit(by, asked())
    expect([answer.status, answer.body.error]).toEqual([status, expect.stringMatching(error)])
    expect(head()).toBe(before)
  })

  test('keep to If-Match of what was there before all of them', async () => {
    const path = `/pools/${ids.pool}`
    const tag = await tagOf(path)
    const made = await world.call(acme, 'POST', `${path}/members`, {
      ipAddress: '2001:db8::1',
      port: 80,
    })
    const changes = (ofPool: string): readonly Asked[] => [
      // The members are a part of what the tag of a pool stands for.
      ['PATCH', `/members/${made.body.id}`, { weight: 5 }, made.headers['etag']],
      ['PATCH', path, { name: 'web 2' }, ofPool],
      ['DELETE', `/members/${made.body.id}`, undefined, made.headers['etag']],
    ]
    const before = head()
    const late = await commit(acme, changes(tag))
    expect([late.status, late.body.error]).toEqual([412, expect.stringMatching(/^requests\.1: /)])
    expect(head()).toBe(before)
    expect((await commit(acme, changes(await tagOf(path)))).status).toBe(201)
    expect((await world.call(acme, 'GET', path)).body).toMatchObject({ name: 'web 2' })
    expect((await world.call(acme, 'GET', `/members/${made.body.id}`)).status).toBe(404)
  })

  test('have a dry run', async () => {
    const before = head()
    const changes: readonly Asked[] = [['PATCH', `/services/${ids.service}`, { ttl: 31 }]]
    const { status, headers } = await commit(acme, changes, { query: '?dryRun=true' })
    expect([status, headers['x-gslb-dry-run'], head()]).toEqual([201, 'true', before])
  })
})

describe('the subject of a commit', () => {
  const octets = (text: string): string => Buffer.from(text).toString('latin1')
  const given: readonly (readonly [string, header: string, subject: string])[] = [
    ['words', 'move: a shorter TTL', 'move: a shorter TTL'],
    ['UTF-8', octets('größer – 東京'), 'größer – 東京'],
    ['what would end the line or steer a terminal', octets('a\u2028\u202eb\u001b[1m'), 'a b [1m'],
    ['what looks like a trailer', 'Gslb-Override: because', 'Gslb-Override: because'],
  ]
  test.each(given)('is what the header says: %s', async (_, header, subject) => {
    const headers = { 'x-gslb-subject': header }
    const body = { name: `pool ${subject.length} ${header.length}` }
    expect((await world.call(acme, 'POST', '/pools', body, headers)).status).toBe(201)
    expect(message().split('\n', 2)).toEqual([subject, ''])
    expect(message()).toContain('Gslb-Operation: create Pool')
  })

  test('is that of several writes', async () => {
    const headers = { 'x-gslb-subject': 'the move' }
    const changes: readonly Asked[] = [
      ['PATCH', `/services/${ids.service}`, { ttl: 41 }],
      ['PATCH', `/pools/${ids.pool}`, { minHealthy: 0 }],
    ]
    expect((await commit(acme, changes, { headers })).status).toBe(201)
    expect(message()).toMatch(/^the move\n\nGslb-Operation: /)
  })

  test.each([
    ['nothing', ' \t'],
    ['too much', 'x'.repeat(121)],
    ['no UTF-8', '\u00ff\u00fe'],
  ])('is refused: %s', async (_, header) => {
    const before = head()
    const headers = { 'x-gslb-subject': header }
    const answer = await world.call(acme, 'POST', '/pools', { name: 'never' }, headers)
    expect([answer.status, head()]).toEqual([400, before])
    expect(answer.body.error).toMatch(/X-Gslb-Subject needs one line/)
  })

  test('is refused on its own, without blame on one of several writes', async () => {
    const headers = { 'x-gslb-subject': 'x'.repeat(121) }
    const answer = await commit(acme, [['POST', '/pools', { name: 'never' }]], { headers })
    expect(answer.status).toBe(400)
    expect(answer.body.error).toMatch(/^the header X-Gslb-Subject needs one line/)
  })

  test.each(['X-Gslb-Subject', 'X-Gslb-Override'])('%s twice is refused', async (name) => {
    const before = head()
    url ??= await world.app.listen({ host: '127.0.0.1', port: 0 })
    const request = httpRequest(`${url}/api/v1/pools`, { method: 'POST' })
    request.setHeader('authorization', `Bearer ${rootKey}`)
    request.setHeader(name, ['one', 'another'])
    request.setHeader('content-type', 'application/json').end('{"name":"never"}')
    const [answer] = (await once(request, 'response')) as [IncomingMessage]
    expect([answer.statusCode, await json(answer)]).toEqual([
      400,
      { error: `the header ${name} is there more than once; give it once` },
    ])
    expect(head()).toBe(before)
  })

  test('stays with its own change where one commit has those of several people', async () => {
    const said = (at: number) => ({ 'x-gslb-subject': `because of ${at}` })
    // The first keeps the writer at work, so that the others wait together.
    const answers = await Promise.all(
      Array.from({ length: 6 }, (_, i) =>
        world.call([acme, zenith][i % 2]!, 'POST', '/pools', { name: `beside-${i}` }, said(i)),
      ),
    )
    expect(answers.map(({ status }) => status)).toEqual(Array<number>(6).fill(201))
    const messages = world.git('log', '-6', '--format=%B%x00', 'main').split('\0')
    for (const text of messages.filter((one) => /api: \d+ changes/.test(one))) {
      const count = Number(/api: (\d+) changes/.exec(text)?.[1])
      expect(text.match(/^Gslb-Subject: because of \d$/gm)).toHaveLength(count)
    }
    for (let i = 0; i < 6; i++) expect(messages.join('\n')).toContain(`because of ${i}`)
  })
})
