import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { everythingLicensed } from '#test/support/everything-licensed.ts'
import { keyOf, rootKey, startConfigWorld } from '#test/support/config-world.ts'
import type { ConfigWorld } from '#test/support/config-world.ts'

interface Rule {
  readonly id: string
  readonly source: string
  readonly triggerValue: string
}

let isLicensed = true
const sentence = 'response policy rules need the tier pro'
const licence = { ...everythingLicensed, refusal: () => (isLicensed ? undefined : sentence) }
const hits = new Map<string, number>()
let world: ConfigWorld
beforeAll(async () => {
  world = await startConfigWorld({ ports: { licence, responseHits: async () => hits } })
})
afterAll(() => world.close())

const call = (method: string, path: string, body?: unknown, headers = {}) =>
  world.call(rootKey, method, `/rpz/rules${path}`, body, headers)
const list = async () => (await call('GET', '')).list as unknown as readonly Rule[]
const file = (path: string) => world.git('show', `main:${path}`)

let count = 0
const fresh = (more: object = {}) => ({
  triggerType: 'exact',
  triggerValue: `bad-${++count}.example`,
  action: 'nxdomain',
  ...more,
})

test('the first change of a new repository may be a rule', async () => {
  const empty = await startConfigWorld({ tenants: [] })
  const made = await empty.call(rootKey, 'POST', '/rpz/rules', fresh())
  await empty.close()
  expect([made.status, made.text]).toEqual([201, expect.stringContaining('"source":"local"')])
})

describe('response rules', () => {
  test('a list is empty before there is one', async () => {
    expect((await call('GET', '')).text).toBe('[]')
  })

  test('a rule has defaults and normal forms; its commit is in the answer', async () => {
    const made = await call('POST', '', {
      triggerType: 'domain',
      triggerValue: 'Ads.Example.',
      action: 'nxdomain',
      actionTarget: 'has.no.effect',
    })
    expect([made.status, made.body]).toEqual([
      201,
      {
        id: expect.any(String) as string,
        triggerType: 'domain',
        triggerValue: 'ads.example',
        action: 'nxdomain',
        actionTarget: '',
        signed: false,
        source: 'local',
        hitCount: 0,
      },
    ])
    expect(made.headers['x-gslb-revision']).toBe(world.git('rev-parse', 'main'))
    expect(file('rpz/local.yaml')).not.toContain('has.no.effect')
    expect(await list()).toContainEqual(made.body)
  })

  test('the target of cname is lower case, without the trailing dot', async () => {
    const made = await call('POST', '', fresh({ action: 'cname', actionTarget: 'Wall.Example.' }))
    expect(made.body).toMatchObject({ action: 'cname', actionTarget: 'wall.example' })
  })

  test('a rule may be signed in a signed zone, and its file says so', async () => {
    const made = await call('POST', '', fresh({ source: 'signing', signed: true }))
    expect(made.body).toMatchObject({ signed: true })
    expect(file('rpz/signing.yaml')).toContain('signed: true')
  })

  test('each source has a policy of its own, which goes with its last rule', async () => {
    const feed = async () => (await call('POST', '', fresh({ source: 'A feed' }))).body.id
    const [first, second] = [await feed(), await feed()]
    expect(file('rpz/a-feed.yaml')).toContain('name: A feed')
    expect((await call('DELETE', `/${first}`)).status).toBe(204)
    expect((await call('DELETE', `/${first}`)).status).toBe(404)
    expect((await list()).filter(({ source }) => source === 'A feed')).toHaveLength(1)
    expect((await call('DELETE', `/${second}`)).status).toBe(204)
    expect(() => file('rpz/a-feed.yaml')).toThrow()
  })

  test('two first rules of one source at once are both there', async () => {
    const made = await Promise.all(
      [1, 2, 3].map(() => call('POST', '', fresh({ source: 'racing' }))),
    )
    expect(made.map(({ status }) => status)).toEqual([201, 201, 201])
    expect((await list()).filter(({ source }) => source === 'racing')).toHaveLength(3)
  })

  test('the hits of all nodes stand beside each rule', async () => {
    const { body } = await call('POST', '', fresh())
    hits.set(body.id, 42)
    expect((await list()).find(({ id }) => id === body.id)).toMatchObject({ hitCount: 42 })
  })

  test('a second rule for the same name and type is a conflict', async () => {
    const sent = fresh()
    await call('POST', '', sent)
    const upper = { ...sent, triggerValue: `${sent.triggerValue.toUpperCase()}.` }
    for (const source of ['local', 'elsewhere']) {
      expect((await call('POST', '', { ...upper, source })).status).toBe(409)
    }
    expect((await call('POST', '', { ...upper, triggerType: 'domain' })).status).toBe(201)
  })

  test.each([
    [{ triggerType: undefined }, 'triggerType: is required'],
    [{ triggerType: 'suffix' }, 'triggerType: '],
    [{ triggerValue: undefined }, 'triggerValue: is required'],
    [{ triggerValue: '*.bad.example' }, 'triggerValue: '],
    [{ triggerValue: 'a..example' }, 'triggerValue: '],
    [{ triggerValue: `${'x'.repeat(64)}.example` }, 'triggerValue: '],
    [{ action: undefined }, 'action: is required'],
    [{ action: 'drop' }, 'action: '],
    [{ action: 'cname' }, 'action: '],
    [{ action: 'cname', actionTarget: 'no name' }, 'actionTarget: '],
    [{ source: '' }, 'source: '],
    [{ source: '  ' }, 'source: '],
    [{ tenantId: 'acme' }, 'tenantId: '],
  ])('%j is refused by field and reason', async (wrong, told) => {
    const answer = await call('POST', '', fresh(wrong))
    expect([answer.status, answer.body.error]).toEqual([400, expect.stringContaining(told)])
  })

  test('a dry run checks all of it and changes nothing', async () => {
    const before = [world.git('rev-parse', 'main'), await list()]
    const sent = fresh({ source: 'never' })
    expect((await call('POST', '?dryRun=true', sent)).status).toBe(201)
    const refused = { ...sent, action: 'cname' }
    expect((await call('POST', '?dryRun=true', refused)).status).toBe(400)
    const [rule] = await list()
    expect((await call('DELETE', `/${rule?.id}?dryRun=true`)).status).toBe(204)
    expect([world.git('rev-parse', 'main'), await list()]).toEqual(before)
  })

  test('a deletion may name the state that it is for', async () => {
    const made = await call('POST', '', fresh())
    const on = (tag: string) => call('DELETE', `/${made.body.id}`, undefined, { 'if-match': tag })
    expect((await on('"other"')).status).toBe(412)
    expect((await on(made.headers['etag'] ?? '')).status).toBe(204)
  })

  test('a rule of a file by hand is deleted, and the rest of its file stays', async () => {
    const rules = [
      { triggerType: 'exact', triggerValue: 'One.Example.', action: 'passthru' },
      { triggerType: 'exact', triggerValue: 'two.example', action: 'nxdomain' },
    ]
    const made = await world.ports.configWriter.write({
      requestId: 'r',
      actor: { name: 'ann', address: 'ann@example.com' },
      operations: [
        {
          ...{ verb: 'create', kind: 'ResponsePolicy', tenant: '', name: 'by-hand' },
          spec: { source: 'feed', rules },
        },
      ],
    })
    expect(made.ok).toBe(true)
    const one = (await list()).find(({ triggerValue }) => triggerValue === 'one.example')
    expect(one).toMatchObject({ source: 'feed' })
    await call('POST', '', fresh({ source: 'feed' }))
    expect((await call('DELETE', `/${one?.id}`)).status).toBe(204)
    const text = file('rpz/by-hand.yaml')
    expect(text).not.toContain('One.Example')
    expect(text).toContain('two.example')
    expect(text).toContain(`bad-${count}.example`)
  })

  test('pages go on where the one before ended', async () => {
    const first = await call('GET', '?limit=2')
    const next = await call('GET', `?cursor=${first.headers['x-next-cursor']}`)
    expect([...first.list, ...next.list]).toEqual(await list())
  })

  test('the licence decides over new rules, not over reads and deletions', async () => {
    const { body } = await call('POST', '', fresh())
    isLicensed = false
    try {
      const refused = await call('POST', '', fresh())
      expect(refused).toMatchObject({ status: 403, body: { error: sentence } })
      expect((await call('GET', '')).status).toBe(200)
      expect((await call('DELETE', `/${body.id}`)).status).toBe(204)
    } finally {
      isLicensed = true
    }
  })

  test('apply to all tenants, none of which sees or writes them', async () => {
    for (const [method, path, body] of [
      ['GET', '/rpz/rules', undefined],
      ['POST', '/rpz/rules', fresh()],
      ['DELETE', '/rpz/rules/x', undefined],
    ] as const) {
      expect((await world.call(keyOf('acme'), method, path, body)).status).toBe(403)
    }
  })
})
