import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { keyOf, rootKey, startConfigWorld } from '#test/support/config-world.ts'
import type { Answered, ConfigWorld } from '#test/support/config-world.ts'

const acme = keyOf('acme')
const zenith = keyOf('zenith')
let world: ConfigWorld
let count = 0
beforeAll(async () => {
  const checkPolicy = { allowScriptChecks: true, webhookAllowedHosts: [], clientCertificates: [] }
  world = await startConfigWorld({ checkPolicy })
})
afterAll(() => world.close())

const call: ConfigWorld['call'] = (...args) => world.call(...args)
const head = (): string => world.git('rev-parse', 'main')

async function newPool(fields: object = {}): Promise<string> {
  const { body } = await call(acme, 'POST', '/pools', { name: `patched-${++count}`, ...fields })
  return body.id
}
async function newMember(fields: object = {}): Promise<string> {
  const body = { ipAddress: `192.0.2.${++count}`, port: 80, ...fields }
  return `/members/${(await call(acme, 'POST', `/pools/${await newPool()}/members`, body)).body.id}`
}
async function newService(fields: object = {}): Promise<string> {
  const name = `patched-${++count}`
  const body = { name, domain: `${name}.example.com.`, ...fields }
  const made = await call(acme, 'POST', '/services', body)
  expect(made).toMatchObject({ status: 201 })
  return `/services/${made.body.id}`
}
const patch = (path: string, body: unknown, headers = {}): Promise<Answered> =>
  call(acme, 'PATCH', path, body, headers)

describe('a merge patch (RFC 7396)', () => {
  test('renames a pool, changes the given fields, and takes null for the default', async () => {
    const path = `/pools/${await newPool()}`
    for (const ipAddress of ['192.0.2.1', '192.0.2.2']) {
      await call(acme, 'POST', `${path}/members`, { ipAddress, port: 80 })
    }
    expect((await patch(path, { minHealthy: 2 })).body).toMatchObject({ minHealthy: 2 })
    const renamed = await patch(path, { name: 'patched-name' })
    expect(renamed.body).toMatchObject({ name: 'patched-name', minHealthy: 2 })
    const both = await patch(path, { name: 'patched-both', minHealthy: null })
    expect(both.body).toMatchObject({ name: 'patched-both', minHealthy: 0 })
    expect(world.git('show', `main:${fileOf('patched-both')}`)).not.toContain('minHealthy')
  })

  test('can move a member, too', async () => {
    const path = await newMember({ weight: 7, region: 'DE' })
    expect((await patch(path, { weight: null })).body).toMatchObject({ weight: 1, region: 'DE' })
    const moved = await patch(path, { ipAddress: '2001:DB8::7', port: 8443, enabled: false })
    const { body } = await call(acme, 'GET', path)
    expect(body).toMatchObject({ ipAddress: '2001:db8::7', port: 8443, enabled: false })
    expect(moved.body).toEqual(body)
  })

  test("leaves a service's pool alone, or detaches it", async () => {
    const poolId = await newPool()
    const path = await newService({ poolId, ttl: 30 })
    const changed = await patch(path, { onAllDown: 'all', answerCount: 4, algorithm: 'failover' })
    const now = { poolId, ttl: 30, onAllDown: 'all', answerCount: 4, algorithm: 'failover' }
    expect(changed.body).toMatchObject(now)
    const chained = await patch(path, { filterChain: ['sticky'] })
    expect(chained.body).toMatchObject({ algorithm: '', filterChain: ['sticky'] })
    const back = await patch(path, { filterChain: null, poolId: null, ttl: null })
    expect(back.body).toMatchObject({ filterChain: [], poolId: null, ttl: 60 })
  })

  test('keeps fields of a service that a PUT of older clients leaves out', async () => {
    const spare = await newPool({ name: 'patched-spare' })
    await call(acme, 'POST', `/pools/${spare}/members`, { ipAddress: '192.0.2.3', port: 80 })
    const poolId = await newPool()
    const path = await newService({ poolId, onAllDown: 'pool:patched-spare', answerCount: 2 })
    const { name, domain } = (await call(acme, 'GET', path)).body
    const put = await call(acme, 'PUT', path, { name, domain, ttl: 5 })
    expect(put.body).toMatchObject({ ttl: 5, onAllDown: 'pool:patched-spare', answerCount: 2 })
  })

  test('leaves the rest of a health check as it is', async () => {
    const path = `/pools/${await newPool()}/healthcheck`
    expect((await patch(path, { port: 81 })).status).toBe(404)
    await call(acme, 'PUT', path, { type: 'http', httpPath: '/live', riseCount: 3 })
    const changed = await patch(path, { fallCount: 2, httpPath: null })
    const now = { type: 'http', httpPath: '/', riseCount: 3, fallCount: 2 }
    expect(changed.body).toMatchObject(now)
  })

  test('merges the header fields of a check one by one', async () => {
    const path = `/pools/${await newPool()}/healthcheck`
    await call(acme, 'PUT', path, { type: 'http', httpHeaders: { 'X-A': '1', 'X-B': '2' } })
    const changed = await patch(path, { httpHeaders: { 'X-A': null, 'X-C': '3' } })
    expect(changed.body).toMatchObject({ httpHeaders: { 'X-B': '2', 'X-C': '3' } })
    expect((await patch(path, { httpHeaders: {} })).body).toEqual(changed.body)
    const none = await patch(path, { httpHeaders: null })
    expect(none.body).toMatchObject({ httpHeaders: {} })
  })

  test.each([
    ['a name', () => newPool().then((id) => `/pools/${id}`), { name: null }, 'name: '],
    ['an address', newMember, { ipAddress: null }, 'ipAddress: '],
    ['a domain', newService, { domain: null }, 'domain: '],
    ['an unknown field', newMember, { wieght: 1 }, 'did you mean "weight"?'],
    ['a wrong value', newService, { answerCount: 17 }, 'answerCount: '],
    ['a list', newService, [], 'body'],
  ])('%s is refused where it cannot be', async (_what, make, body, words) => {
    const before = await make()
    const answer = await patch(before, body)
    expect(answer).toMatchObject({ status: 400 })
    expect(answer.body.error).toContain(words)
  })

  test('comes as a merge patch or as JSON, and as nothing else', async () => {
    const path = await newMember()
    for (const [type, status] of [
      ['application/merge-patch+json', 200],
      ['application/merge-patch+json; charset=utf-8', 200],
      ['application/json', 200],
      ['application/json-patch+json', 415],
      ['text/plain', 415],
    ] as const) {
      const answer = await patch(path, { weight: 3 }, { 'content-type': type })
      expect([type, answer.status]).toEqual([type, status])
      const accepted = status === 415 ? 'application/merge-patch+json, application/json' : undefined
      expect(answer.headers['accept-patch']).toBe(accepted)
    }
    const type = { 'content-type': 'application/merge-patch+json' }
    expect((await call(acme, 'PUT', path, { weight: 3 }, type)).status).toBe(415)
  })

  test('is for the state that If-Match names', async () => {
    for (const path of [`/pools/${await newPool()}`, await newMember(), await newService()]) {
      const { headers } = await call(acme, 'GET', path)
      const ifMatch = { 'if-match': headers['etag'] ?? '' }
      const name = `matched-${++count}`
      expect(await patch(path, { name }, ifMatch)).toMatchObject({ status: 200 })
      expect(await patch(path, { name: 'late' }, ifMatch)).toMatchObject({ status: 412 })
    }
  })

  test('that changes nothing makes no commit', async () => {
    const path = await newMember({ weight: 4 })
    const before = head()
    expect(await patch(path, {})).toMatchObject({ status: 200, body: { weight: 4 } })
    expect(await patch(path, { weight: 4, region: null })).toMatchObject({ status: 200 })
    expect(head()).toBe(before)
  })

  test("does not find another tenant's object", async () => {
    for (const path of [`/pools/${await newPool()}`, await newMember(), await newService()]) {
      expect((await call(zenith, 'PATCH', path, { name: 'x' })).status).toBe(404)
    }
  })
})

describe('a script check', () => {
  test('is changed by system administrators only, by whichever field', async () => {
    const path = `/pools/${await newPool()}/healthcheck`
    await call(acme, 'PUT', path, {})
    expect((await patch(path, { type: 'script' })).status).toBe(403)
    const made = await call(rootKey, 'PATCH', path, { type: 'script', scriptContent: 'exit 0' })
    expect(made).toMatchObject({ status: 200, body: { type: 'script', scriptContent: 'exit 0' } })
    expect((await patch(path, { scriptContent: 'exit 1' })).status).toBe(403)
    expect((await patch(path, { type: 'tcp' })).status).toBe(200)
  })

  test('does not run what somebody had left there before', async () => {
    const path = `/pools/${await newPool()}/healthcheck`
    await call(acme, 'PUT', path, { scriptContent: 'exit 1' })
    const body = { type: 'script', scriptPath: '/usr/lib/check' }
    const made = await call(rootKey, 'PATCH', path, body)
    expect(made).toMatchObject({ status: 200, body: { ...body, scriptContent: '' } })
  })

  test('that came while a patch waited is not changed by it', async () => {
    const path = `/pools/${await newPool()}/healthcheck`
    await call(acme, 'PUT', path, {})
    const script = call(rootKey, 'PUT', path, { type: 'script', scriptContent: 'exit 0' })
    const answers = await Promise.all([script, patch(path, { scriptContent: 'rm -rf /' })])
    expect(answers[0].status).toBe(200)
    const { body } = await call(acme, 'GET', path)
    expect(body).toMatchObject({ type: 'script', scriptContent: 'exit 0' })
  })
})

const fileOf = (name: string): string => {
  const files = world.git('ls-tree', '-r', '--name-only', 'main').split('\n')
  return files.find((file) => world.git('show', `main:${file}`).includes(`name: ${name}`)) ?? ''
}
