import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { keyOf, rootKey, startConfigWorld } from '#test/support/config-world.ts'
import type { ConfigWorld } from '#test/support/config-world.ts'

const acme = keyOf('acme')
const zenith = keyOf('zenith')
let world: ConfigWorld
beforeAll(async () => {
  world = await startConfigWorld()
})
afterAll(() => world.close())

const call: ConfigWorld['call'] = (...args) => world.call(...args)
const noSuchId = '01976c1e-7e5c-7000-8000-00000000ffff'

const hiddenSign =
  'name: write it on one line, not of blanks alone, without control characters and signs that ' +
  'turn the direction'
const halfCharacter =
  'has half of a surrogate pair, which is no character; write both halves, such as \\ud83d\\ude00'

describe('pools', () => {
  test('lists are empty, not null, before there is anything', async () => {
    expect(await call(zenith, 'GET', '/pools')).toMatchObject({ status: 200, text: '[]' })
  })

  test('are in Git and in the API when the answer to their creation comes', async () => {
    const made = await call(acme, 'POST', '/pools', { name: 'web' })
    expect(made).toMatchObject({
      status: 201,
      body: { id: expect.any(String) as string, name: 'web' },
    })
    const revision = made.headers['x-gslb-revision']
    expect(world.git('rev-parse', 'main')).toBe(revision)
    const file = world.git('show', 'main:tenants/acme/pools/web.yaml')
    expect(file).toContain(made.body.id)
    expect(await call(acme, 'GET', `/pools/${made.body.id}`)).toMatchObject({
      status: 200,
      body: made.body,
      headers: { etag: made.headers['etag'] },
    })
    expect((await call(acme, 'GET', '/pools')).list).toEqual([made.body])
  })

  test('the commit says who asked, and by which request', async () => {
    const made = await call(acme, 'POST', '/pools', { name: 'traced' })
    const text = world.git('log', '-1', '--format=%an <%ae>%n%B', 'main')
    expect(text).toContain('tenant:acme <tenant-acme@users.gslbd>')
    expect(text).toContain(made.headers['x-request-id'] ?? '')
  })

  test('the subject of a commit has names, its trailer the id too', async () => {
    const { body } = await call(acme, 'POST', '/pools', { name: 'told' })
    const path = `/pools/${body.id}`
    const said = () => world.git('log', '-1', '--format=%s|%(trailers:key=Gslb-Operation)', 'main')
    expect(said()).toContain(`api: create Pool told|Gslb-Operation: create Pool ${body.id} told`)
    const member = { ipAddress: '192.0.2.88', port: 80 }
    const made = await call(acme, 'POST', `${path}/members`, member)
    expect(said()).toContain('api: create Member in told|')
    await call(acme, 'PUT', `/members/${made.body.id}`, { weight: 7 })
    expect(said()).toContain('api: update Member 192.0.2.88 of told|')
    const service = { name: 'told-www', domain: 'told.example.com.', poolId: body.id }
    const { body: www } = await call(acme, 'POST', '/services', service)
    await call(acme, 'PUT', `/services/${www.id}`, { ...service, ttl: 7 })
    expect(said()).toContain(
      `api: update Service told-www|Gslb-Operation: update Service ${www.id}`,
    )
    expect(world.git('log', '-1', '--format=%B', 'main')).not.toContain('rename')
    await call(acme, 'PUT', path, { name: 'told \u200b2' })
    expect(said()).toContain('api: rename Pool told to told  2|')
    await call(acme, 'DELETE', path)
    expect(said()).toContain('api: delete Pool told  2|')
    expect(said()).toContain(`delete Pool ${body.id} told  2`)
  })

  test('a rename keeps the id; the same name again makes no commit', async () => {
    const { body } = await call(acme, 'POST', '/pools', { name: 'before' })
    const renamed = await call(acme, 'PUT', `/pools/${body.id}`, { name: 'after' })
    expect(renamed).toMatchObject({ status: 200, body: { id: body.id, name: 'after' } })
    const again = await call(acme, 'PUT', `/pools/${body.id}`, { name: 'after' })
    expect(again.status).toBe(200)
    expect(again.headers['x-gslb-revision']).toBe(renamed.headers['x-gslb-revision'])
  })

  test('a deleted pool goes with its members; its services stay without a pool', async () => {
    const { body: pool } = await call(acme, 'POST', '/pools', { name: 'leaving' })
    const member = { ipAddress: '192.0.2.77', port: 80 }
    const { body: made } = await call(acme, 'POST', `/pools/${pool.id}/members`, member)
    const { body: service } = await call(acme, 'POST', '/services', {
      name: 'stays',
      domain: 'stays.example.com.',
      poolId: pool.id,
    })
    expect(await call(acme, 'DELETE', `/pools/${pool.id}`)).toMatchObject({ status: 204, text: '' })
    expect((await call(acme, 'GET', `/pools/${pool.id}`)).status).toBe(404)
    expect((await call(acme, 'GET', `/members/${made.id}`)).status).toBe(404)
    expect((await call(acme, 'GET', `/services/${service.id}`)).body.poolId).toBeNull()
  })

  test.each([
    [{}, 'name: is required'],
    [undefined, 'body: is empty or null; send an object as JSON'],
    [null, 'body: is empty or null; send an object as JSON'],
    [{ name: '' }, 'name: must not be empty'],
    [{ name: 7 }, 'name: must be a text of 1 to 255 characters, not 7'],
    [{ name: 'a\nb' }, hiddenSign],
    [{ name: ' \u00a0 ' }, hiddenSign],
    [{ name: 'a\u202eb' }, hiddenSign],
    [{ name: 'a\u0085b' }, hiddenSign],
    [{ name: 'a\u2028b' }, hiddenSign],
    [
      { name: 'x'.repeat(256) },
      'name: must be a text of 1 to 255 characters, not this text of 256 characters',
    ],
    [{ name: '\ud800' }, `name: ${halfCharacter}`],
    [{ name: 'a\udc00b' }, `name: ${halfCharacter}`],
    [{ name: 'x', more: [{ deep: '\ud83d' }] }, `more.0.deep: ${halfCharacter}`],
    [{ '\ud800': 'x' }, `body: ${halfCharacter}`],
    ['\ud800', `body: ${halfCharacter}`],
    [{ name: 'x', nmae: 'y' }, 'nmae: there is no such field; did you mean "name"?'],
  ])('%j is refused by field and reason', async (body, sentence) => {
    const answer = await call(acme, 'POST', '/pools', body)
    expect(answer.status).toBe(400)
    expect(answer.body.error).toBe(sentence)
  })

  test('a character beyond the first plane may be written as both of its halves', async () => {
    const payload = '{"name": "\\ud83d\\ude00"}'
    const headers = { authorization: `Bearer ${acme}` }
    const answer = await world.app.inject({
      method: 'POST',
      url: '/api/v1/pools',
      headers,
      payload,
    })
    expect(answer.statusCode).toBe(201)
    expect(answer.json()).toMatchObject({ name: '\u{1F600}' })
  })

  test("another tenant's name is taken, and nothing is said of who has it", async () => {
    await call(acme, 'POST', '/pools', { name: 'shared' })
    const answer = await call(zenith, 'POST', '/pools', { name: 'shared' })
    const error =
      'name: there is a Pool named "shared" already (names are unique over all tenants); choose ' +
      'another name.'
    expect(answer).toMatchObject({ status: 409, body: { error } })
    expect(answer.text).not.toContain('acme')
    const { body } = await call(zenith, 'POST', '/pools', { name: 'own' })
    const renamed = await call(zenith, 'PUT', `/pools/${body.id}`, { name: 'shared' })
    expect(renamed.status).toBe(409)
    expect(renamed.text).not.toContain('acme')
  })

  test("another tenant's pool does not exist; a system administrator sees all", async () => {
    const { body } = await call(acme, 'POST', '/pools', { name: 'hidden' })
    for (const id of [body.id, noSuchId, 'x']) {
      for (const [method, sent] of [['GET'], ['PUT', { name: 'z' }], ['DELETE']] as const) {
        const answer = await call(zenith, method, `/pools/${id}`, sent)
        expect(answer).toMatchObject({ status: 404, body: { error: 'there is no such pool' } })
      }
    }
    expect((await call(zenith, 'GET', '/pools')).text).not.toContain('hidden')
    expect((await call(rootKey, 'GET', '/pools')).text).toContain('hidden')
    expect((await call(rootKey, 'GET', `/pools/${body.id}`)).status).toBe(200)
  })

  test('If-Match lets a change through only for the state that was read', async () => {
    const made = await call(acme, 'POST', '/pools', { name: 'guarded' })
    const path = `/pools/${made.body.id}`
    const [stale, weak] = ['"0123"', `W/${made.headers['etag']}`]
    for (const tag of [stale, weak]) {
      const answer = await call(acme, 'PUT', path, { name: 'no' }, { 'if-match': tag })
      expect(answer.status).toBe(412)
    }
    const fresh = { 'if-match': `"other", ${made.headers['etag']}` }
    const changed = await call(acme, 'PUT', path, { name: 'guarded-2' }, fresh)
    expect(changed.status).toBe(200)
    expect((await call(acme, 'DELETE', path, undefined, fresh)).status).toBe(412)
    const nonsense = await call(acme, 'DELETE', path, undefined, { 'if-match': 'nonsense' })
    const error = 'If-Match: must be entity tags, such as "3f2a"'
    expect(nonsense).toMatchObject({ status: 400, body: { error } })
    expect((await call(acme, 'DELETE', path, undefined, { 'if-match': '*' })).status).toBe(204)
  })

  test('a page leads to the next until all were seen, once each', async () => {
    const whole = (await call(acme, 'GET', '/pools')).list
    const seen: unknown[] = []
    let cursor: string | undefined
    do {
      const more = cursor === undefined ? '' : `&cursor=${cursor}`
      const page = await call(acme, 'GET', `/pools?limit=2${more}`)
      expect(page.status).toBe(200)
      seen.push(...page.list)
      cursor = page.headers['x-next-cursor']
    } while (cursor !== undefined)
    expect(seen).toEqual(whole)
    expect((await call(acme, 'GET', '/pools?cursor=zzz')).body.error).toContain('cursor:')
    expect((await call(acme, 'GET', '/pools?limit=0')).body.error).toContain('limit:')
  })
})
