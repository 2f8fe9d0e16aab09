import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { ok } from '#lib/result.ts'
import type { Usage } from '#state/ports/usage.ts'
import { keyOf, rootKey, startConfigWorld } from '#test/support/config-world.ts'
import type { ConfigWorld } from '#test/support/config-world.ts'

const acme = keyOf('acme')
const asked: unknown[] = []
const record = { period: '2026-11-20T01', dnsQueries: 7, apiCalls: 3 }
const usage: Usage = {
  add: async () => ok(undefined),
  range: async (tenantId, ...range) => {
    asked.push([tenantId, ...range])
    return ok(['acme', 'gone'].includes(tenantId) ? [{ tenantId, ...record }] : [])
  },
}
const nowMs = Date.UTC(2026, 10, 20, 15)
const clock = { nowMs: () => nowMs, monotonicMs: () => nowMs }

let world: ConfigWorld
beforeAll(async () => {
  world = await startConfigWorld({ ports: { usage, clock } })
})
afterAll(() => world.close())

const call: ConfigWorld['call'] = (...args) => world.call(...args)

describe('usage', () => {
  test('the range is the current UTC day unless it is sent', async () => {
    expect((await call(acme, 'GET', '/usage')).list).toEqual([{ tenantId: 'acme', ...record }])
    await call(acme, 'GET', '/usage?from=2026-10-31T05&to=2026-11-01T04')
    expect(asked).toEqual([
      ['acme', '2026-11-20T00', '2026-11-20T23'],
      ['acme', '2026-10-31T05', '2026-11-01T04'],
    ])
  })

  test('a tenant with none has an empty list', async () => {
    expect((await call(keyOf('zenith'), 'GET', '/usage')).text).toBe('[]')
  })

  test('any tenant is for system administrators only', async () => {
    expect((await call(acme, 'GET', '/tenants/acme/usage')).status).toBe(403)
    const { list } = await call(rootKey, 'GET', '/tenants/acme/usage')
    expect(list).toEqual([{ tenantId: 'acme', ...record }])
    expect((await call(rootKey, 'GET', '/tenants/nobody/usage')).status).toBe(404)
  })

  test('what a tenant has used can be read when it is deleted', async () => {
    const { list } = await call(rootKey, 'GET', '/tenants/gone/usage')
    expect(list).toEqual([{ tenantId: 'gone', ...record }])
  })

  test.each([
    ['from=yesterday', 'from: must be an hour in UTC'],
    ['to=2026-11-20', 'to: must be an hour in UTC'],
    ['from=2026-11-20T24', 'from: '],
    ['from=2026-11-21T00&to=2026-11-20T00', 'from: must not be after'],
    ['since=2026-11-20T00', 'since: there is no such parameter; there are from, to'],
  ])('?%s is refused by field and reason', async (query, sentence) => {
    const answer = await call(acme, 'GET', `/usage?${query}`)
    expect(answer.body.error).toContain(sentence)
    expect(answer.status).toBe(400)
  })
})
