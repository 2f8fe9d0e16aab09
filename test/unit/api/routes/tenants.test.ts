import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { tokenHash } from '#access/auth/policy.ts'
import {
  apiKey as systemKey,
  createWorld,
  memoryTenants,
  setupOrigin,
} from '#test/support/api-world.ts'
import { keyOf, rootKey } from '#test/support/config-world.ts'
import type { Answered } from '#test/support/config-world.ts'
import { valueOf } from '#test/support/store-values.ts'
import { startWholeWorld } from '#test/support/whole-world.ts'
import type { WholeWorld } from '#test/support/whole-world.ts'

const keyForm = /^[0-9a-f]{64}$/
const apiKeyIn = ({ text }: { readonly text: string }): string => {
  const { apiKey } = JSON.parse(text) as { readonly apiKey: string }
  expect(apiKey).toMatch(keyForm)
  return apiKey
}

describe('a new API key of a tenant', () => {
  let whole: WholeWorld
  beforeAll(async () => {
    whole = await startWholeWorld()
  })
  afterAll(() => whole.stop())

  const root = (method: string, path: string, body?: unknown): Promise<Answered> =>
    whole.world.call(rootKey, method, path, body)
  const renew = (id: string): Promise<Answered> => root('POST', `/tenants/${id}/key`)
  const tenantOf = async (key: string): Promise<unknown> => {
    const { status, text } = await whole.world.call(key, 'GET', '/auth/me')
    return status === 200 ? (JSON.parse(text) as { readonly tenantId: string }).tenantId : status
  }

  test('ends the one before at once, and is kept as a hash', async () => {
    const first = apiKeyIn(await root('POST', '/tenants', { name: 'shop' }))
    expect(await tenantOf(first)).toBe('shop')
    const answer = await renew('shop')
    expect([answer.status, Object.keys(answer.body)]).toEqual([201, ['apiKey']])
    const second = apiKeyIn(answer)
    expect([await tenantOf(first), await tenantOf(second)]).toEqual([401, 'shop'])
    const { tenantKeys } = whole.state
    expect(await valueOf(tenantKeys.findTenant(tokenHash(second)))).toBe('shop')
    expect(await valueOf(tenantKeys.findTenant(second))).toBeNull()
  })

  test('is for one that Git declares', async () => {
    const declared = await whole.world.ports.configWriter.write({
      requestId: 'setup',
      actor: { name: 'ann', address: 'ann@example.com' },
      operations: [{ verb: 'create', kind: 'Tenant', tenant: 'news', name: 'news', spec: {} }],
    })
    expect(declared.ok).toBe(true)
    expect(await tenantOf(apiKeyIn(await renew('news')))).toBe('news')
  })

  test('is for the tenant default, and is no key of the system', async () => {
    const key = apiKeyIn(await renew('default'))
    expect(await tenantOf(key)).toBe('default')
    expect((await whole.world.call(key, 'GET', '/tenants')).status).toBe(403)
  })

  test('is for one that came back by a revert, whose key did not', async () => {
    const before = apiKeyIn(await root('POST', '/tenants', { name: 'back' }))
    expect((await root('DELETE', '/tenants/back')).status).toBe(204)
    expect((await renew('back')).status).toBe(404)
    const reverted = await root('POST', `/history/${whole.world.git('rev-parse', 'main')}/revert`)
    expect(reverted.status, reverted.text).toBeLessThan(300)
    expect(await tenantOf(before)).toBe(401)
    expect(await tenantOf(apiKeyIn(await renew('back')))).toBe('back')
  })

  test('is given by system administrators alone', async () => {
    for (const actor of ['acme tenant_admin', 'acme key', 'acme operator']) {
      const bearer = await whole.bearerOf(actor)
      for (const method of ['POST', 'DELETE']) {
        expect((await whole.world.call(bearer, method, '/tenants/acme/key')).status).toBe(403)
      }
    }
    expect(await tenantOf(keyOf('acme'))).toBe('acme')
  })

  test('can be ended without another', async () => {
    const key = apiKeyIn(await root('POST', '/tenants', { name: 'ended' }))
    const end = (): Promise<Answered> => root('DELETE', '/tenants/ended/key')
    expect(await tenantOf(key)).toBe('ended')
    expect([(await end()).status, await tenantOf(key)]).toEqual([204, 401])
    expect(await end()).toMatchObject({
      status: 404,
      body: { error: 'there is no such tenant with an API key' },
    })
  })

  test('the audit log says of which tenant a key was made and ended, not the key', async () => {
    const world = await createWorld(whole.state)
    const path = '/api/v1/tenants/default/key'
    const made = await world.call('POST', path, { bearer: systemKey })
    await world.call('DELETE', path, { bearer: systemKey })
    const seen = world.audit.map(({ method, path: of, status }) => `${method} ${of} ${status}`)
    expect(seen).toEqual([`POST ${path} 201`, `DELETE ${path} 204`])
    expect(JSON.stringify(world.audit)).not.toContain(apiKeyIn(made))
  })

  test('a tenant that is deleted meanwhile leaves no key for one of its id', async () => {
    const tenants = memoryTenants()
    await tenants.create({ id: 'acme', name: 'acme', rpsLimit: 1 }, setupOrigin)
    const hashes: string[] = []
    const { tenantKeys } = whole.state
    const world = await createWorld(whole.state, {
      tenants,
      tenantKeys: {
        ...tenantKeys,
        put: async (id, hash, nowMs) => {
          await tenants.remove(id, setupOrigin)
          hashes.push(hash)
          return tenantKeys.put(id, hash, nowMs)
        },
      },
    })
    const answer = await world.call('POST', '/api/v1/tenants/acme/key', { bearer: systemKey })
    expect(answer).toMatchObject({ status: 404, body: { error: 'there is no such tenant' } })
    expect(hashes).toHaveLength(1)
    expect(await valueOf(tenantKeys.findTenant(hashes[0]!))).toBeNull()
  })
})
