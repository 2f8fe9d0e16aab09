// Permission to put a script into a filter chain: who has it, and who is refused.
import { afterAll, beforeAll, expect, test } from 'vitest'
import { keyOf } from '#test/support/config-world.ts'
import { valueOf } from '#test/support/store-values.ts'
import { startWholeWorld } from '#test/support/whole-world.ts'
import type { WholeWorld } from '#test/support/whole-world.ts'

const script = 'script:result = candidates'
let whole: WholeWorld
let bearer = ''
beforeAll(async () => {
  whole = await startWholeWorld()
  const permissions = ['service:read', 'service:write']
  const { roles } = whole.world.ports
  await valueOf(roles.setPermissions('every-tenant', 'none', permissions, 2))
  bearer = await whole.bearerOf('acme none')
})
afterAll(() => whole.stop())

test('a script needs scripts:write, and is kept by whoever writes services', async () => {
  const call = (by: string, method: string, path: string, body: object) =>
    whole.world.call(by, method, `/services${path}`, body)
  const own = { name: 'own', domain: 'own.example.com.' }
  const refused = await call(bearer, 'POST', '', { ...own, filterChain: [script] })
  expect([refused.status, refused.body.error]).toEqual([
    403,
    'permission denied: a script step needs scripts:write',
  ])
  const plain = await call(bearer, 'POST', '', { ...own, filterChain: ['failover'] })
  expect(plain.status).toBe(201)
  const at = `/${plain.body.id}`
  for (const method of ['PUT', 'PATCH']) {
    const sent = { ...(method === 'PUT' ? own : {}), filterChain: [script, 'failover'] }
    expect((await call(bearer, method, at, sent)).status).toBe(403)
    expect((await call(keyOf('acme'), method, at, sent)).status).toBe(200)
    const kept = { ...sent, ttl: 90 }
    expect((await call(bearer, method, at, kept)).status).toBe(200)
    const changed = { ...sent, filterChain: ['script:result = []', 'failover'] }
    expect((await call(bearer, method, at, changed)).status).toBe(403)
    expect((await call(bearer, method, at, { ...sent, filterChain: ['failover'] })).status).toBe(
      200,
    )
  }
})
