import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import type { DomainChecks } from '#ports/domain-checks.ts'
import { apiLimits } from '#http/limits.ts'
import { err, ok } from '#lib/result.ts'
import type { DomainCheck, DomainResult } from '#state/ports/domains.ts'
import { keyOf, rootKey, startConfigWorld } from '#test/support/config-world.ts'
import type { ConfigWorld } from '#test/support/config-world.ts'

const check: DomainCheck = {
  ...{ role: 'parent', server: 'a.example.', address: '192.0.2.1', ns: ['ns1.example.'], ds: [] },
  ...{ code: 'missing-glue', error: 'a.example. gives no address', atMs: 2_999 },
}
const resultOf = (domain: string): DomainResult => ({
  ...{ domain, nsOk: true, dsOk: false, dsExpected: false, error: 'a sentence' },
  ...{ checks: [check], verifiedAtMs: 2_999 },
})
const stored = new Map<string, DomainResult>()
let fault: 'busy' | { code: 'store-away'; message: string } | undefined
const checks: DomainChecks = {
  results: async (uids) =>
    typeof fault === 'object'
      ? err(fault)
      : ok(new Map([...stored].filter(([uid]) => uids.includes(uid)))),
  forget: async (uids) => {
    for (const uid of uids) stored.delete(uid)
    return ok(undefined)
  },
  verify: async ({ uid, domain }) => {
    if (fault !== undefined) return err(fault)
    stored.set(uid, resultOf(domain))
    return ok(resultOf(domain))
  },
}
let world: ConfigWorld
beforeAll(async () => {
  world = await startConfigWorld({ ports: { domains: checks } })
})
afterAll(() => world.close())
beforeEach(() => {
  fault = undefined
})

const call = (method: string, path: string, body?: unknown, by = keyOf('acme')) =>
  world.call(by, method, `/domains${path}`, body)

const fresh = {
  ...{
    id: expect.any(String) as string,
    tenantId: 'acme',
    verified: false,
    nsOk: false,
    dsOk: false,
  },
  ...{ dsExpected: false, lastVerifiedAt: null, verificationError: '', checks: [] },
  createdAt: expect.any(Number) as number,
}

describe('a delegated domain', () => {
  test('is registered in its normal form, as a file of the tenant', async () => {
    const made = await call('POST', '', { domain: 'GSLB.Example.com.' })
    expect([made.status, made.body]).toEqual([201, { ...fresh, domain: 'gslb.example.com' }])
    expect(made.headers['x-gslb-revision']).toBe(world.git('rev-parse', 'main'))
    const file = world.git('show', 'main:tenants/acme/domains/gslb.example.com.yaml')
    expect(file).toContain('domain: gslb.example.com')
    expect((await call('GET', '')).list).toEqual([{ ...fresh, domain: 'gslb.example.com' }])
    expect((await call('GET', '', undefined, keyOf('zenith'))).list).toEqual([])
    expect((await call('GET', '', undefined, rootKey)).list.length).toBe(1)
  })

  test.each([
    ['acme', 'gslb.example.com'],
    ['acme', 'GSLB.EXAMPLE.COM.'],
    ['zenith', 'gslb.example.com.'],
  ])('is taken: %s asks for %s', async (tenant, domain) => {
    const again = await call('POST', '', { domain }, keyOf(tenant))
    expect([again.status, again.body.error]).toEqual([
      409,
      'domain: the domain gslb.example.com. is already registered.',
    ])
  })

  test.each([
    [{}, 'domain'],
    [{ domain: '' }, 'domain'],
    [{ domain: '.' }, 'domain'],
    [{ domain: '*.example.com' }, 'domain'],
    [{ domain: 'a..example.com' }, 'domain'],
    [{ domain: `${'a'.repeat(64)}.example.com` }, 'domain'],
    [{ domain: 'a b.example.com' }, 'domain'],
    [{ domain: 7 }, 'domain'],
    [{ domain: 'ok.example.com', verified: true }, 'verified'],
  ])('is not made of %j', async (body, field) => {
    const made = await call('POST', '', body)
    expect([made.status, made.body.error]).toEqual([400, expect.stringContaining(field)])
  })

  test('is checked at once when that is asked, and shows what each server said', async () => {
    const { id } = (await call('POST', '', { domain: 'checked.example.com' })).body
    const shown = {
      ...{ ...fresh, id, domain: 'checked.example.com', verified: true, nsOk: true },
      ...{ lastVerifiedAt: 2, verificationError: 'a sentence' },
      checks: [
        {
          ...{ role: 'parent', server: 'a.example.', address: '192.0.2.1', ns: ['ns1.example.'] },
          ...{ ds: [], code: 'missing-glue', error: 'a.example. gives no address', at: 2 },
        },
      ],
    }
    const verified = await call('POST', `/${id}/verify`)
    expect([verified.status, verified.body]).toEqual([200, shown])
    expect((await call('GET', '')).list).toContainEqual(shown)
    expect((await call('POST', `/${id}/verify`, undefined, keyOf('zenith'))).status).toBe(404)
  })

  test('is not checked yet if its id has the result of another domain', async () => {
    const { id } = (await call('POST', '', { domain: 'renamed.example.com' })).body
    stored.set(id, resultOf('before.example.com.'))
    expect((await call('GET', '')).list).toContainEqual({
      ...{ ...fresh, id, domain: 'renamed.example.com' },
    })
  })

  test('is gone for good, with its result, and may be registered by others', async () => {
    const { id } = (await call('POST', '', { domain: 'gone.example.com' })).body
    await call('POST', `/${id}/verify`)
    expect((await call('DELETE', `/${id}`, undefined, keyOf('zenith'))).status).toBe(404)
    expect((await call('DELETE', `/${id}`)).status).toBe(204)
    expect(stored.has(id)).toBe(false)
    expect((await call('DELETE', `/${id}`)).status).toBe(404)
    const again = await call('POST', '', { domain: 'gone.example.com' }, keyOf('zenith'))
    expect(again.status).toBe(201)
  })

  test('is not checked while others are, or the store is away', async () => {
    const { id } = (await call('POST', '', { domain: 'busy.example.com' })).body
    fault = 'busy'
    const busy = await call('POST', `/${id}/verify`)
    expect([busy.status, busy.headers['retry-after']]).toEqual([503, '5'])
    fault = { code: 'store-away', message: 'The database is away.' }
    for (const [method, path] of [['POST', `/${id}/verify`] as const, ['GET', ''] as const]) {
      const refused = await call(method, path)
      expect([refused.status, refused.headers['retry-after']]).toEqual([503, '5'])
    }
    // What is in Git alone does not wait for it.
    expect((await call('POST', '', { domain: 'without.example.com' })).status).toBe(201)
  })

  test('is checked a few times in a row, then the tenant has to wait', async () => {
    const zenith = keyOf('zenith')
    const { id } = (await call('POST', '', { domain: 'often.example.com' }, zenith)).body
    const { burst } = apiLimits.domainChecks
    for (let i = 0; i < burst; i++) {
      expect((await call('POST', `/${id}/verify`, undefined, zenith)).status).toBe(200)
    }
    const refused = await call('POST', `/${id}/verify`, undefined, zenith)
    expect([refused.status, refused.body.error]).toEqual([429, 'too many checks of domains: wait'])
    expect(Number(refused.headers['retry-after'])).toBeGreaterThan(0)
    const { id: other } = (await call('POST', '', { domain: 'seldom.example.com' })).body
    expect((await call('POST', `/${other}/verify`)).status).toBe(200)
  })

  test('is listed in pages, and tried without being made', async () => {
    const all = (await call('GET', '')).list.map(({ id }) => id)
    const first = await world.call(keyOf('acme'), 'GET', '/domains?limit=2')
    expect(first.list.map(({ id }) => id)).toEqual(all.slice(0, 2))
    const cursor = first.headers['x-next-cursor'] ?? ''
    const rest = await world.call(keyOf('acme'), 'GET', `/domains?cursor=${cursor}`)
    expect(rest.list.map(({ id }) => id)).toEqual(all.slice(2))
    const tried = await world.call(keyOf('acme'), 'POST', '/domains?dryRun=true', {
      domain: 'dry.example.com',
    })
    expect([tried.status, (await call('GET', '')).list.length]).toEqual([201, all.length])
  })
})
