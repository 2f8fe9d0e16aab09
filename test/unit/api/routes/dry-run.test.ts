import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { operationId } from '#api/reference/openapi.ts'
import { routes } from '#api/routes.ts'
import type { Route } from '#api/route/route.ts'
import { takesDryRun } from '#api/route/answer-headers.ts'
import { keyOf, rootKey } from '#test/support/config-world.ts'
import type { Answered } from '#test/support/config-world.ts'
import { laneRows } from '#test/support/lane.ts'
import { routeCases } from '#test/support/route-cases.ts'
import type { Params } from '#test/support/route-cases.ts'
import { startWholeWorld } from '#test/support/whole-world.ts'
import type { WholeWorld } from '#test/support/whole-world.ts'

const acme = keyOf('acme')
let whole: WholeWorld
beforeAll(async () => {
  whole = await startWholeWorld()
})
afterAll(() => whole.stop())

const call: WholeWorld['world']['call'] = (...args) => whole.world.call(...args)
const head = (): string => whole.world.git('rev-parse', 'main')
const writes = routes.filter(({ method }) => method !== 'GET')
const dry = '?dryRun=true'

async function answerTo(row: Route, query: string, own?: Params): Promise<[Answered, Params]> {
  const { make, body } = routeCases[operationId(row)]!
  const params = own ?? (await make?.(whole.world, 'acme')) ?? {}
  const path = row.path.replaceAll(/\{(\w+)\}/g, (_all, name: string) => params[name] ?? '')
  const isOfTenants = /^(pool|member|service|hc|geo|maintenance|rollout|record):/.test(row.needs)
  const by = isOfTenants ? acme : rootKey
  const below = path.slice('/api/v1'.length)
  return [await call(by, row.method, `${below}${query}`, body?.()), params]
}

describe('a dry run', () => {
  const taking = writes
    .filter(takesDryRun)
    .map((row) => [`${row.method} ${row.path}`, row] as const)
  // Routes of an object that has a list of its own, and of the parts of that list.
  const isShort = ([name]: readonly [string, Route]): boolean => /\/pools\b/.test(name)
  test.each(laneRows(taking, isShort))(
    'answers %s as the call would, and commits nothing',
    async (_name, row) => {
      const { make } = routeCases[operationId(row)]!
      const own = (await make?.(whole.world, 'acme')) ?? {}
      const before = head()
      const [answer] = await answerTo(row, dry, own)
      expect(head()).toBe(before)
      expect(answer.headers['x-gslb-dry-run']).toBe('true')
      const [real] = await answerTo(row, '', own)
      expect([answer.status, Object.keys(answer.body)]).toEqual([
        real.status,
        Object.keys(real.body),
      ])
      expect(real.headers).not.toHaveProperty('x-gslb-dry-run')
    },
  )

  test.each(
    writes
      .filter((row) => !takesDryRun(row))
      .map((row) => [`${row.method} ${row.path}`, row] as const),
  )('refuses %s: it is not in Git', async (_name, row) => {
    if (row.needs === 'session') return
    const [answer] = await answerTo(row, dry)
    expect([400, 404]).toContain(answer.status)
    expect(answer.headers).not.toHaveProperty('x-gslb-dry-run')
  })

  test('says what would be wrong, in the words of the call', async () => {
    const body = { name: 'dry-bad', domain: 'dry.example.com.', onAllDown: 'pool:nobody' }
    const [asked, real] = [
      await call(acme, 'POST', `/services${dry}`, body),
      await call(acme, 'POST', '/services', body),
    ]
    expect(asked.status).toBe(400)
    expect(asked.body).toEqual(real.body)
    expect(asked.body.error).toContain('onAllDown')
  })

  test('keeps to If-Match, and shows what would be there', async () => {
    const { body, headers } = await call(acme, 'POST', '/pools', { name: 'dry-pool' })
    const path = `/pools/${body.id}`
    const change = { name: 'dry-renamed' }
    const ifMatch = { 'if-match': headers['etag'] ?? '' }
    const asked = await call(acme, 'PATCH', `${path}${dry}`, change, ifMatch)
    expect(asked).toMatchObject({ status: 200, body: change })
    const wrong = await call(acme, 'PATCH', `${path}${dry}`, change, { 'if-match': '"no"' })
    expect(wrong).toMatchObject({ status: 412 })
    const real = await call(acme, 'PATCH', path, change, ifMatch)
    expect(real.headers['etag']).toBe(asked.headers['etag'])
    expect(asked.headers['x-gslb-revision']).not.toBe(real.headers['x-gslb-revision'])
  })

  test('beside writes of the same moment changes nothing of them', async () => {
    const before = Number(whole.world.git('rev-list', '--count', 'main'))
    const answers = await Promise.all(
      Array.from({ length: 8 }, (_, i) =>
        call(acme, 'POST', `/pools${i % 2 === 0 ? dry : ''}`, { name: `dry-beside-${i}` }),
      ),
    )
    expect(answers.map(({ status }) => status)).toEqual(Array<number>(8).fill(201))
    const names = (await call(acme, 'GET', '/pools')).list.map(({ name }) => name)
    const beside = names.filter((name) => name.startsWith('dry-beside'))
    expect(beside).toEqual([1, 3, 5, 7].map((i) => `dry-beside-${i}`))
    expect(Number(whole.world.git('rev-list', '--count', 'main'))).toBeGreaterThan(before)
  })

  test('is true or false', async () => {
    const answer = await call(acme, 'POST', '/pools?dryRun=maybe', { name: 'dry-maybe' })
    expect(answer).toMatchObject({ status: 400 })
    expect(answer.body.error).toContain('dryRun: must be true or false')
    const made = await call(acme, 'POST', '/pools?dryRun=false', { name: 'dry-false' })
    expect(made.status).toBe(201)
    expect((await call(acme, 'GET', `/pools/${made.body.id}`)).status).toBe(200)
  })
})
