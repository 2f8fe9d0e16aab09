import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { refusalOf } from '#api/config/writes.ts'
import { everythingLicensed } from '#test/support/everything-licensed.ts'
import type { LicenceGate, LicensedFeature } from '#licence/gate.ts'
import { keyOf, rootKey, startConfigWorld } from '#test/support/config-world.ts'
import type { ConfigWorld } from '#test/support/config-world.ts'
import { runProgram } from '#test/support/run-program.ts'

const acme = keyOf('acme')
const zenith = keyOf('zenith')
/** Refusal of the licence, as a test sets it. */
const refused = new Set<LicensedFeature>()
const licence: LicenceGate = {
  ...everythingLicensed,
  refusal: (feature: LicensedFeature) =>
    refused.has(feature) ? `the licence has no ${feature}` : undefined,
}
let world: ConfigWorld
let pool: string
beforeAll(async () => {
  world = await startConfigWorld({ ports: { licence } })
  pool = (await call(acme, 'POST', '/pools', { name: 'web' })).body.id
})
afterAll(() => world.close())

const call: ConfigWorld['call'] = (...args) => world.call(...args)

let count = 0
const fresh = () => ({ name: `svc-${++count}`, domain: `svc-${count}.example.com.` })

const settings = `apiVersion: gslb/v1
kind: Settings
metadata: { name: settings }
spec:
  defaults: { nameservers: [{ name: ns1.example.com. }] }
  zones:
    - name: example.com.
      nameservers: [{ name: ns1.example.com., addresses: ["192.0.2.1"] }]
`

/** A commit by hand. */
function commitSettings(): void {
  const { gitdir, git } = world
  const piped = (input: string, ...args: string[]): string =>
    runProgram('git', ['-C', gitdir, ...args], { input })
      .toString()
      .trim()
  const blob = piped(settings, 'hash-object', '-w', '--stdin')
  const rows = git('ls-tree', 'main')
    .split('\n')
    .filter((row) => !row.endsWith('gslb.yaml'))
  const input = [...rows, `100644 blob ${blob}\tgslb.yaml`, ''].join('\n')
  const tree = piped(input, 'mktree')
  const person = ['-c', 'user.name=ann', '-c', 'user.email=ann@example.com']
  git('update-ref', 'refs/heads/main', git(...person, 'commit-tree', '-p', 'main', '-m', 'x', tree))
}

/** Fields of a new service beside those that were sent. */
const policy = { onAllDown: 'empty', answerCount: 1, weakSpots: true }

describe('services', () => {
  test('a list is empty, not null, before there is one', async () => {
    expect(await call(zenith, 'GET', '/services')).toMatchObject({ status: 200, text: '[]' })
  })

  test('have defaults for fields left out', async () => {
    const sent = fresh()
    const made = await call(acme, 'POST', '/services', sent)
    expect(made).toMatchObject({ status: 201 })
    expect(made.body).toEqual({
      id: expect.any(String) as string,
      ...sent,
      algorithm: 'round-robin',
      ttl: 60,
      poolId: null,
      filterChain: [],
      ...policy,
    })
    expect((await call(acme, 'GET', `/services/${made.body.id}`)).body).toEqual(made.body)
    expect((await call(acme, 'GET', '/services')).list).toContainEqual(made.body)
  })

  test('a pool is attached by its id, follows its name, and is detached by null', async () => {
    const { body } = await call(acme, 'POST', '/pools', { name: 'moving' })
    const made = await call(acme, 'POST', '/services', { ...fresh(), poolId: body.id })
    expect(made.body.poolId).toBe(body.id)
    await call(acme, 'PUT', `/pools/${body.id}`, { name: 'moved' })
    const path = `/services/${made.body.id}`
    expect((await call(acme, 'GET', path)).body.poolId).toBe(body.id)
    const { name, domain } = made.body
    const detached = await call(acme, 'PUT', path, { name, domain, poolId: null })
    expect(detached).toMatchObject({ status: 200, body: { poolId: null } })
  })

  test.each(['PUT', 'PATCH'] as const)('a %s that takes the pool away says so', async (method) => {
    const { body } = await call(acme, 'POST', '/pools', { name: `taken by ${method}` })
    const made = await call(acme, 'POST', '/services', { ...fresh(), poolId: body.id })
    const { name, domain, id } = made.body
    const left = method === 'PUT' ? { name, domain } : { poolId: null }
    const taken = await call(acme, method, `/services/${id}`, left)
    const said = `1, "service \\"${name}\\" is left without a pool"`
    expect([taken.body.poolId, taken.headers['x-gslb-affected']]).toEqual([null, said])
    const again = await call(acme, method, `/services/${id}`, left)
    expect(again.headers['x-gslb-affected']).toBeUndefined()
  })

  test('a pool that is renamed at the same moment is attached all the same', async () => {
    const { body } = await call(acme, 'POST', '/pools', { name: 'before' })
    const there = (await call(acme, 'POST', '/services', fresh())).body
    const [renamed, made, changed] = await Promise.all([
      call(acme, 'PUT', `/pools/${body.id}`, { name: 'after' }),
      call(acme, 'POST', '/services', { ...fresh(), poolId: body.id }),
      call(acme, 'PUT', `/services/${there.id}`, { ...fresh(), poolId: body.id }),
    ])
    expect(renamed.status).toBe(200)
    expect(made).toMatchObject({ status: 201, body: { poolId: body.id } })
    expect(changed).toMatchObject({ status: 200, body: { poolId: body.id } })
  })

  test('a pool that goes at the same moment is not confused with one of its name', async () => {
    const { body } = await call(acme, 'POST', '/pools', { name: 'going' })
    const [deleted, again, made] = await Promise.all([
      call(acme, 'DELETE', `/pools/${body.id}`),
      call(acme, 'POST', '/pools', { name: 'going' }),
      call(acme, 'POST', '/services', { ...fresh(), poolId: body.id }),
    ])
    expect([deleted.status, again.status]).toEqual([204, 201])
    expect(made).toMatchObject({ status: 400, body: { error: 'The pool has just been deleted.' } })
  })

  test('a domain is taken without its final dot, by each way to write it', async () => {
    const sent = { ...fresh(), domain: `dotless-${count}.example.com` }
    const made = await call(acme, 'POST', '/services', sent)
    const domain = `${sent.domain}.`
    expect([made.status, made.body.domain]).toEqual([201, domain])
    const path = `/services/${made.body.id}`
    const next = `next-${sent.domain}`
    for (const [method, body] of [
      ['PUT', { name: sent.name, domain: next }],
      ['PATCH', { domain: sent.domain }],
    ] as const) {
      const changed = await call(acme, method, path, body)
      expect([changed.status, changed.body.domain]).toEqual([200, `${body.domain}.`])
    }
  })

  test('a change replaces all: name, domain, algorithm, ttl', async () => {
    const { body } = await call(acme, 'POST', '/services', { ...fresh(), ttl: 5, poolId: pool })
    const next = { ...fresh(), algorithm: 'failover', ttl: 30, poolId: pool, filterChain: [] }
    const changed = await call(acme, 'PUT', `/services/${body.id}`, next)
    expect(changed.body).toEqual({ id: body.id, ...next, ...policy })
    const { name, domain } = next
    const bare = await call(acme, 'PUT', `/services/${body.id}`, { name, domain })
    expect(bare.body).toMatchObject({ algorithm: 'round-robin', ttl: 60, poolId: null })
  })

  test.each([[undefined], [null], [[]]])(
    'a chain hides the algorithm until it is reverted with filterChain %j',
    async (filterChain) => {
      const chain = ['geo-ip', 'round-robin']
      const sent = fresh()
      const { body } = await call(acme, 'POST', '/services', { ...sent, filterChain: chain })
      expect(body).toMatchObject({ algorithm: '', filterChain: chain })
      const plain = { ...sent, algorithm: 'failover', filterChain }
      const reverted = await call(acme, 'PUT', `/services/${body.id}`, plain)
      expect(reverted.body).toMatchObject({ algorithm: 'failover', filterChain: [] })
    },
  )

  test.each([
    [{ domain: 'a.example.com.' }, 'name: is required'],
    [{ name: '', domain: 'a.example.com.' }, 'name: '],
    [{ name: 'a' }, 'domain: is required'],
    [{ name: 'a', domain: '' }, 'domain: '],
    [{ name: 'a', domain: 'a..example.com.' }, 'domain: '],
    [{ name: 'a', domain: 'a' }, 'domain: '],
    [{ name: 'a', domain: 'a.example.com.', ttl: -1 }, 'ttl: '],
    [
      { name: 'a', domain: 'a.example.com.', algorithm: 'best' },
      'asn, latency, not this text of 4',
    ],
    [{ name: 'a', domain: 'a.example.com.', filterChain: ['geo-pi'] }, 'filterChain.0: '],
    [
      { name: 'a', domain: 'a.example.com.', filterChain: ['script:result = ('] },
      'filterChain.0: ',
    ],
    [{ name: 'a', domain: 'a.example.com.', poolId: 'x' }, 'poolId: there is no such pool'],
  ])('%j is refused by field and reason', async (body, sentence) => {
    const answer = await call(acme, 'POST', '/services', body)
    expect(answer.body.error).toContain(sentence)
    expect(answer.status).toBe(400)
  })

  test("another tenant's pool cannot be attached, and looks like none", async () => {
    const answer = await call(zenith, 'POST', '/services', { ...fresh(), poolId: pool })
    expect(answer.status).toBe(400)
    const none = await call(zenith, 'POST', '/services', { ...fresh(), poolId: 'none' })
    expect(answer.body).toEqual(none.body)
  })

  test('names and domains are taken across tenants, whatever the case', async () => {
    const sent = fresh()
    await call(acme, 'POST', '/services', sent)
    const domain = sent.domain.toUpperCase()
    for (const body of [
      { ...fresh(), name: sent.name },
      { ...fresh(), domain },
    ]) {
      const answer = await call(zenith, 'POST', '/services', body)
      expect(answer.status).toBe(409)
      expect(answer.text).not.toContain('acme')
    }
  })

  test.each([
    ['a system administrator', rootKey, 'Settings "settings" (gslb.yaml, line 5)'],
    ['a tenant', acme, 'Settings "settings"'],
  ])('%s is told which other object would be wrong, and why', async (_who, by, object) => {
    commitSettings()
    const answer = await call(by, 'POST', '/services', { name: 'top', domain: 'com.' })
    expect(answer).toMatchObject({
      status: 400,
      body: {
        error:
          `${object} would no longer be right: the name server ns1.example.com. is inside the ` +
          'zone com. and has no addresses; add addresses: ["192.0.2.1"] with the public address ' +
          'of this server. See: GET /api/v1/explain/nameserver-glue-missing.',
      },
    })
  })

  test("tell a tenant nothing about a fault of another tenant's object", () => {
    const file = 'tenants/zenith/services/secret.yaml'
    const found = { code: 'x', message: 'secret is wrong', help: '', field: '', line: 1 }
    const diagnostics = [{ ...found, file, other: 'Service "secret"' }]
    const message = 'Another object would no longer be right.'
    const failure = { code: 'invalid', message, operation: 0, diagnostics } as const
    const answers = [false, true].map((isSystemAdmin) =>
      refusalOf(failure, { tenant: 'acme', isSystemAdmin }, 'r1'),
    )
    const error = `Service "secret" (${file}, line 1) would no longer be right: secret is wrong.`
    expect(answers).toMatchObject([
      { status: 400, body: { error: message } },
      { status: 400, body: { error: `${error} See: GET /api/v1/explain/x.` } },
    ])
  })

  test('a name can be copied out of a refusal as it stands', async () => {
    const answer = await call(acme, 'POST', '/services', { name: 'a', domain: 'a' })
    expect(answer.body.error).toMatch(/ such as a\.example\.com\.$/)
  })

  test("another tenant's service does not exist", async () => {
    const { body } = await call(acme, 'POST', '/services', fresh())
    for (const [method, sent] of [['GET'], ['PUT', fresh()], ['DELETE']] as const) {
      const answer = await call(zenith, method, `/services/${body.id}`, sent)
      expect(answer).toMatchObject({ status: 404, body: { error: 'there is no such service' } })
    }
  })

  test.each([
    ['filter-chains', ['round-robin']],
    ['signal-weight', ['signal-weight']],
    ['rum-routing', ['rum-latency']],
    ['filter-scripts', ['script:result = []']],
  ] as const)('without %s in the licence, the chain %j is 403', async (feature, filterChain) => {
    refused.add(feature)
    const answer = await call(acme, 'POST', '/services', { ...fresh(), filterChain })
    refused.delete(feature)
    expect(answer).toMatchObject({ status: 403, body: { error: `the licence has no ${feature}` } })
  })

  test('If-Match holds for name and fields together', async () => {
    const made = await call(acme, 'POST', '/services', fresh())
    const path = `/services/${made.body.id}`
    const tag = { 'if-match': made.headers['etag'] ?? '' }
    const next = fresh()
    const changed = await call(acme, 'PUT', path, next, tag)
    expect(changed).toMatchObject({ status: 200, body: next })
    expect((await call(acme, 'PUT', path, fresh(), tag)).status).toBe(412)
    expect((await call(acme, 'GET', path)).body).toEqual(changed.body)
    expect((await call(acme, 'DELETE', path, undefined, tag)).status).toBe(412)
    expect((await call(acme, 'DELETE', path)).status).toBe(204)
  })
})
