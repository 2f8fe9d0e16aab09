// The calls of the audit log that the database has: pages, tenants, a long past.
import { afterAll, beforeAll, expect, test } from 'vitest'
import type { AuditEntry } from '#state/ports/audit.ts'
import { startWholeWorld } from '#test/support/whole-world.ts'
import type { WholeWorld } from '#test/support/whole-world.ts'
import { keyOf, rootKey } from '#test/support/config-world.ts'
import { valueOf } from '#test/support/store-values.ts'

const count = 2_500
let whole: WholeWorld
beforeAll(async () => {
  whole = await startWholeWorld()
  const { audit } = whole.state
  for (let from = 0; from < count; from += 500) {
    await valueOf(audit.append(Array.from({ length: 500 }, (_, i) => entryOf(from + i))))
  }
})
afterAll(() => whole.stop())

/** Each third of acme; always two at one instant. */
const entryOf = (number: number): AuditEntry => ({
  id: `00000000-0000-7000-8000-${String(number).padStart(12, '0')}`,
  atMs: 1_000_000 + Math.floor(number / 2),
  ...{ method: 'PUT', path: `/api/v1/pools/${number}`, actor: 'abcd', remote: '192.0.2.9' },
  ...{
    status: number % 10 === 0 ? 409 : 200,
    durationMs: 3,
    tenantId: number % 3 === 0 ? 'acme' : 'zenith',
    requestId: null,
  },
})

interface Call {
  readonly id: string
  readonly tenantId: string
}

async function page(key: string, query: string) {
  const { status, text, headers } = await whole.world.call(key, 'GET', `/audit${query}`)
  const next = headers['x-next-cursor']
  return { status, next: next, calls: JSON.parse(text) as readonly Call[] }
}

async function everyPage(key: string, limit: number): Promise<readonly Call[]> {
  const all: Call[] = []
  for (let cursor = ''; ;) {
    const { next, calls } = await page(key, `?limit=${limit}${cursor}`)
    all.push(...calls)
    if (next === undefined) return all
    cursor = `&cursor=${next}`
  }
}

test('page after page leads through all of it, each call once, the newest first', async () => {
  const all = await everyPage(rootKey, 700)
  const ids = all.map(({ id }) => id)
  expect(ids).toHaveLength(count)
  expect(ids).toEqual(ids.toSorted().toReversed())
})

test('a tenant sees its own calls, and another one none of them', async () => {
  const own = await everyPage(keyOf('acme'), 1_000)
  expect(own).toHaveLength(Math.ceil(count / 3))
  expect(new Set(own.map(({ tenantId }) => tenantId))).toEqual(new Set(['acme']))
})

test('without a limit a page has 100, and may begin at any time', async () => {
  const { calls } = await page(rootKey, '?to=1000002&from=1000001')
  expect(calls.map(({ id }) => id)).toEqual([entryOf(3).id, entryOf(2).id])
  expect((await page(rootKey, '')).calls).toHaveLength(100)
})

const filters = [
  ['path=/POOLS/12', count],
  ['actor=wxyz', 0],
  ['method=PUT&refused=true', 250],
  ['refused=false&actor=abcd&path=/pools/17', 100],
] as const
test.each(filters)('%s has its own calls', async (query, most) => {
  const { calls, status } = await page(rootKey, `?limit=1000&${query}`)
  const expected = Array.from({ length: count }, (_, i) => entryOf(count - 1 - i)).filter(
    matches(new URLSearchParams(query)),
  )
  expect([status, calls.map(({ id }) => id)]).toEqual([200, expected.map(({ id }) => id)])
  expect(calls.length).toBeLessThanOrEqual(most)
})

const matches = (query: URLSearchParams) => (entry: AuditEntry) =>
  entry.path.includes((query.get('path') ?? '').toLowerCase()) &&
  [entry.actor, null].includes(query.get('actor')) &&
  [String(entry.status >= 400), null].includes(query.get('refused'))

test.each([
  ...['limit=0', 'limit=1001', 'cursor=x', 'cursor=WyIxIl0', 'cursor=WyJ4IiwieSJd'],
  ...['method=GET', 'actor=', 'path=', 'refused=yes', 'from=yesterday', 'colour=red'],
])('?%s is refused', async (query) => {
  expect((await page(rootKey, `?${query}`)).status).toBe(400)
})
