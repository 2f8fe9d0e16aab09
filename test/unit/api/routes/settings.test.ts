// Settings over HTTP: reads of the node's, changes of the repository's.
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { apiLimits } from '#http/limits.ts'
import { keyOf, recordsSettings, rootKey, startConfigWorld } from '#test/support/config-world.ts'
import type { Answered, ConfigWorld } from '#test/support/config-world.ts'

const nodeSettings = {
  list: () => [
    {
      key: 'dns.port',
      value: 53,
      source: 'file',
      origin: `/etc/${'long/'.repeat(300)}gslbd.yaml`,
      isSecret: false,
      needsRestart: true,
      isPending: false,
    } as const,
  ],
}

let world: ConfigWorld
beforeAll(async () => {
  world = await startConfigWorld({ settings: recordsSettings, ports: { nodeSettings } })
})
afterAll(() => world.close())

interface Shown {
  readonly node: readonly object[]
  readonly repository: Readonly<Record<string, unknown>> | null
}

const read = async (): Promise<readonly [Shown, string]> => {
  const answer = await world.call(rootKey, 'GET', '/settings')
  return [JSON.parse(answer.text) as Shown, String(answer.headers['etag'])]
}
const put = (body: unknown, headers = {}, query = ''): Promise<Answered> =>
  world.call(rootKey, 'PUT', `/settings${query}`, body, headers)
const head = (): string => world.git('rev-parse', 'main')

test('a read has those of the node and those of the repository', async () => {
  const [shown] = await read()
  expect(shown.node).toEqual(nodeSettings.list())
  expect(shown.repository).toMatchObject({ zones: expect.any(Array) as unknown })
})

describe('a change', () => {
  test('is a commit that replaces the groups of the body, and leaves the others', async () => {
    const [before] = await read()
    const answer = await put({ guardrails: { removedNames: 60 } })
    expect(answer.status).toBe(200)
    expect(answer.headers['x-gslb-revision']).toBe(head())
    const [after, etag] = await read()
    expect(after.repository).toEqual({ ...before.repository, guardrails: { removedNames: 60 } })
    expect(answer.headers['etag']).toBe(etag)
    expect(world.git('show', 'main:gslb.yaml')).toContain('removedNames: 60')
  })

  test('null removes a group', async () => {
    await put({ guardrails: { removedNames: 10 } })
    expect((await put({ guardrails: null })).status).toBe(200)
    expect((await read())[0].repository).not.toHaveProperty('guardrails')
  })

  test('with an old entity tag is 412, and changes nothing', async () => {
    const [, etag] = await read()
    expect((await put({ guardrails: { removedNames: 20 } }, { 'if-match': etag })).status).toBe(200)
    const commit = head()
    const late = await put({ guardrails: { removedNames: 21 } }, { 'if-match': etag })
    expect([late.status, head()]).toEqual([412, commit])
  })

  test('takes the entity tag of a compressed answer', async () => {
    const { node } = (await read())[0]
    expect(JSON.stringify(node).length).toBeGreaterThan(apiLimits.compression.bytesMin)
    const zipped = { 'accept-encoding': 'gzip' }
    const { headers } = await world.call(rootKey, 'GET', '/settings', undefined, zipped)
    expect([headers['content-encoding'], headers['etag']]).toEqual(['gzip', (await read())[1]])
    const tag = { 'if-match': String(headers['etag']) }
    expect((await put({ guardrails: { removedNames: 34 } }, tag)).status).toBe(200)
    expect((await put({ guardrails: { removedNames: 35 } }, tag)).status).toBe(412)
  })

  test('that says what is there already makes no commit', async () => {
    await put({ guardrails: { removedNames: 33 } })
    const commit = head()
    expect((await put({ guardrails: { removedNames: 33 } })).status).toBe(200)
    expect(head()).toBe(commit)
  })

  test('can be tried without a commit', async () => {
    const commit = head()
    const tried = await put({ guardrails: { removedNames: 44 } }, {}, '?dryRun=true')
    expect([tried.status, tried.headers['x-gslb-dry-run'], head()]).toEqual([200, 'true', commit])
    const refused = await put({ guardrails: { removedNames: 101 } }, {}, '?dryRun=true')
    expect(refused.status).toBe(400)
  })

  test.each([
    [{ guardrails: { removedNames: 101 } }, 'guardrails.removedNames'],
    [{ guardrails: { removed: 1 } }, 'guardrails.removed'],
    [{ zones: [{ name: 'a..b.' }] }, 'zones.0'],
    [{ zones: {} }, 'zones: must be'],
    [{ guardrail: {} }, 'did you mean "guardrails"?'],
    [{ dns: { port: 53 } }, 'dns: there is no such field'],
  ])('%j is refused by its field', async (body, sentence) => {
    const commit = head()
    const answer = await put(body)
    expect(answer.body.error).toContain(sentence)
    expect([answer.status, head()]).toEqual([400, commit])
  })
})

test('tenants see and change none of it', async () => {
  const sentence = 'this is of the whole installation: only the tenant default has it'
  const read = await world.call(keyOf('acme'), 'GET', '/settings')
  expect([read.status, read.body.error]).toEqual([403, sentence])
  const written = await world.call(keyOf('acme'), 'PUT', '/settings', { guardrails: {} })
  expect([written.status, written.body.error]).toEqual([403, sentence])
  // An operator of the tenant default reads, and does not write.
  expect((await world.call(keyOf('default'), 'GET', '/settings')).status).toBe(200)
  expect((await world.call(keyOf('default'), 'PUT', '/settings', {})).status).toBe(403)
})

test('without gslb.yaml the first change makes it', async () => {
  const bare = await startConfigWorld({ ports: { nodeSettings } })
  const read = await bare.call(rootKey, 'GET', '/settings')
  expect([read.status, (JSON.parse(read.text) as Shown).repository]).toEqual([200, null])
  const zones = [{ name: 'example.com.', nameservers: [{ name: 'ns1.example.net.' }] }]
  const refused = await bare.call(rootKey, 'PUT', '/settings', { zones }, { 'if-match': '"other"' })
  expect(refused.status).toBe(412)
  const made = await bare.call(rootKey, 'PUT', '/settings', { zones, guardrails: null })
  expect([made.status, made.body.error]).toEqual([200, undefined])
  const again = await bare.call(rootKey, 'GET', '/settings')
  expect((JSON.parse(again.text) as Shown).repository).toMatchObject({ zones })
  await bare.close()
})
