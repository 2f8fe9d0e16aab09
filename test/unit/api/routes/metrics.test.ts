// /metrics: who may read it, and what it counts of the API itself.
import { describe, expect, test } from 'vitest'
import { createApp } from '#api/server/app.ts'
import { systemKey } from '#access/auth/policy.ts'
import { RequestCounts } from '#http/request-counts.ts'
import { devMode, noSessions, portsOf } from '#test/support/api-ports.ts'

const rootKey = 'k'.repeat(32)
const token = 'm'.repeat(32)

function scene() {
  const requestCounts = new RequestCounts()
  const auth = { ...devMode, systemKey: systemKey(rootKey), metricsToken: systemKey(token) }
  const app = createApp(portsOf({ auth, sessions: noSessions, requestCounts }), [])
  const get = (url: string, bearer: string) =>
    app.inject({ url, headers: { authorization: `Bearer ${bearer}` } })
  return { app, get, requestCounts }
}

describe('a scraper', () => {
  test.each([
    ['the token', token, 200],
    ['the system key', rootKey, 200],
    ['another token', 'x'.repeat(32), 401],
  ])('reads /metrics with %s: %s', async (_who, bearer, status) => {
    expect((await scene().get('/metrics', bearer)).statusCode).toBe(status)
  })

  test('opens nothing else with the token', async () => {
    const { get } = scene()
    const others = ['/api/v1/gitops/status', '/api/v1/cluster/nodes', '/bundles/channels/main']
    for (const url of others) expect([url, (await get(url, token)).statusCode]).toEqual([url, 401])
  })
})

test('requests are counted by the route of the table, and others in one row', async () => {
  const { app, get, requestCounts } = scene()
  await get('/api/v1/health', '')
  await get('/api/v1/health', '')
  await get('/metrics', 'wrong')
  await get('/api/v1/pools/one', 'wrong')
  await get('/api/v1/pools/two', 'wrong')
  await get('/nowhere/1', rootKey)
  await get('/nowhere/2', rootKey)
  await app.inject({ method: 'PUT', url: '/api/v1/health' })
  const rows = requestCounts.all()
  const lines = rows.map(({ method, route, status, count }) =>
    [method, route, status, count].join(' '),
  )
  expect(lines).toContain('GET /api/v1/health 200 2')
  expect(lines).toContain('GET /metrics 401 1')
  expect(lines).toContain('GET /api/v1/pools/{id} 401 2')
  expect(lines.filter((line) => line.startsWith('other other'))).toContain('other other 404 2')
  expect(lines.join()).not.toContain('nowhere')
})
