// Records by the right of a delegated domain: who may write where over the API, and when.
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import type { DomainChecks } from '#ports/domain-checks.ts'
import { err, ok } from '#lib/result.ts'
import type { DomainResult } from '#state/ports/domains.ts'
import { keyOf, rootKey, startConfigWorld } from '#test/support/config-world.ts'
import type { Answered, ConfigWorld } from '#test/support/config-world.ts'

const acme = keyOf('acme')
const zenith = keyOf('zenith')
const zone = 'customers.example.'
const settings = `apiVersion: gslb/v1
kind: Settings
metadata: { name: settings }
spec:
  defaults: { nameservers: [{ name: ns1.example.net. }] }
  zones:
    - { name: ${zone}, tenants: [default], delegated: true }
    - { name: zenith.${zone}, tenants: [zenith] }
    - { name: plain.example., tenants: [default] }
`
const stored = new Map<string, DomainResult>()
let isStoreAway = false
const away = { code: 'store-away', message: 'The database is away.' } as const
const checks: DomainChecks = {
  results: async (uids) =>
    isStoreAway ? err(away) : ok(new Map([...stored].filter(([uid]) => uids.includes(uid)))),
  forget: async () => ok(undefined),
  verify: async ({ uid, domain }) => {
    const parts = { dsOk: false, dsExpected: false, error: '', checks: [], verifiedAtMs: 1 }
    const result = { ...parts, domain, nsOk: !domain.startsWith('lame') }
    stored.set(uid, result)
    return ok(result)
  },
}
let world: ConfigWorld
beforeAll(async () => {
  world = await startConfigWorld({ settings, ports: { domains: checks } })
})
afterAll(() => world.close())
beforeEach(() => {
  isStoreAway = false
})

const call: ConfigWorld['call'] = (...args) => world.call(...args)
const register = async (by: string, domain: string): Promise<string> => {
  const made = await call(by, 'POST', '/domains', { domain })
  expect([made.status, made.body.error]).toEqual([201, undefined])
  return made.body.id
}
const registerVerified = async (by: string, domain: string): Promise<string> => {
  const id = await register(by, domain)
  await call(by, 'POST', `/domains/${id}/verify`)
  return id
}
const write = (by: string, name: string, more: object = {}): Promise<Answered> =>
  call(by, 'POST', '/records', { zone, name, type: 'TXT', values: ['"a text"'], ...more })
const notOwn = (name: string, tenant: string): string =>
  `name: ${name}.${zone} is in no delegated domain of tenant "${tenant}"`
const unverified = (domain: string, id: string): string =>
  `the right to write these records comes with the domain ${domain}.${zone}, which is not ` +
  `verified: POST /api/v1/domains/${id}/verify checks it now and says what is missing`

describe('a tenant with a delegated domain', () => {
  test('writes at and below it once it is verified, and not beside or above it', async () => {
    const id = await register(acme, `shop.${zone}`)
    const early = await write(acme, 'www.shop')
    expect([early.status, early.body.error]).toEqual([409, unverified('shop', id)])
    await call(acme, 'POST', `/domains/${id}/verify`)
    for (const name of ['shop', 'WWW.Shop', 'a.b.shop', '*.shop']) {
      expect([name, (await write(acme, name)).status]).toEqual([name, 201])
    }
    for (const name of ['workshop', 'www']) {
      const answer = await write(acme, name)
      expect([answer.status, answer.body.error.split(';')[0]]).toEqual([400, notOwn(name, 'acme')])
    }
    expect((await write(acme, '@')).status).toBe(400)
    const other = await write(zenith, 'mail.shop')
    expect([other.status, other.body.error.split(';')[0]]).toEqual([
      400,
      notOwn('mail.shop', 'zenith'),
    ])
  })

  test('that is no longer verified changes no record, and may delete each', async () => {
    const domain = await registerVerified(acme, `later.${zone}`)
    const { id } = (await write(acme, 'later')).body
    const path = `/records/${id}`
    stored.set(domain, { ...stored.get(domain)!, nsOk: false })
    for (const [method, body] of [
      ['PATCH', { ttl: 5 }],
      ['PUT', { values: ['"b"'] }],
    ] as const) {
      const answer = await call(acme, method, path, body)
      expect([answer.status, answer.body.error]).toEqual([409, unverified('later', domain)])
    }
    expect((await call(acme, 'DELETE', path)).status).toBe(204)
  })

  test('has no right yet if its id has the result of another name', async () => {
    const id = await registerVerified(acme, `renamed.${zone}`)
    stored.set(id, { ...stored.get(id)!, domain: 'before.example.' })
    expect((await write(acme, 'renamed')).status).toBe(409)
  })

  test('writes nothing by it while the results cannot be read', async () => {
    await registerVerified(acme, `dark.${zone}`)
    isStoreAway = true
    expect((await write(acme, 'dark')).status).toBe(503)
    // Nothing is asked of those who have the whole zone.
    expect((await write(rootKey, 'light')).status).toBe(201)
  })

  test('has no right where a check has found it lame', async () => {
    await registerVerified(acme, `lame.${zone}`)
    expect((await write(acme, 'www.lame')).status).toBe(409)
  })

  test('cannot lose it while records need it, and is told which', async () => {
    const id = await registerVerified(acme, `kept.${zone}`)
    const record = await write(acme, 'www.kept')
    const answer = await call(acme, 'DELETE', `/domains/${id}`)
    expect(answer.status).toBe(409)
    expect(answer.body.error).toMatch(
      /^Records "www\.kept\.customers\.example TXT" \(tenants\/acme\/records\/.*, line \d+\) would/,
    )
    expect(answer.body.error).toContain(`www.kept.${zone} is in no delegated domain of tenant`)
    expect((await call(acme, 'DELETE', `/records/${record.body.id}`)).status).toBe(204)
    expect((await call(acme, 'DELETE', `/domains/${id}`)).status).toBe(204)
  })

  test('gets records back by a revert only while it is verified', async () => {
    const domain = await registerVerified(acme, `back.${zone}`)
    const { id } = (await write(acme, 'www.back')).body
    await call(acme, 'DELETE', `/records/${id}`)
    const commit = world.git('rev-parse', 'main')
    stored.set(domain, { ...stored.get(domain)!, nsOk: false })
    const revert = (): Promise<Answered> => call(rootKey, 'POST', `/history/${commit}/revert`)
    const early = await revert()
    expect([early.status, early.body.error]).toEqual([409, unverified('back', domain)])
    await call(acme, 'POST', `/domains/${domain}/verify`)
    expect((await revert()).status).toBe(201)
  })
})

describe('two tenants with the same domain', () => {
  test('the one whose domain comes back with its records waits for its check', async () => {
    const domain = await registerVerified(acme, `both.${zone}`)
    const { id } = (await write(acme, 'www.both')).body
    const gone = await world.ports.configWriter.write({
      requestId: 'by-hand',
      actor: { name: 'ann', address: 'ann@users.gslbd' },
      operations: [
        { verb: 'delete', kind: 'RecordSet', target: { uid: id } },
        { verb: 'delete', kind: 'DelegatedDomain', target: { uid: domain } },
      ],
    })
    expect(gone.ok).toBe(true)
    stored.delete(domain)
    const path = `/history/${world.git('rev-parse', 'main')}/revert`
    const early = await call(rootKey, 'POST', path)
    expect([early.status, early.body.error]).toEqual([409, unverified('both', domain)])
  })

  test('the one with the closer domain decides, which a system administrator gives', async () => {
    await registerVerified(acme, `outer.${zone}`)
    const refused = await call(zenith, 'POST', '/domains', { domain: `inner.outer.${zone}` })
    expect([refused.status, refused.body.error]).toEqual([
      409,
      `domain: inner.outer.${zone} is inside a domain of somebody else, and would take from it ` +
        'the right to write records there: ask a system administrator to register it',
    ])
    await registerVerified(rootKey, `inner.outer.${zone}`)
    expect((await write(acme, 'outer')).status).toBe(201)
    expect((await write(acme, 'www.inner.outer')).status).toBe(400)
    // In a domain of its own a tenant may have more of them.
    const own = await register(acme, `mine.outer.${zone}`)
    const answer = await write(acme, 'mine.outer')
    expect([answer.status, answer.body.error]).toEqual([409, unverified('mine.outer', own)])
  })

  test('a hint for a zone that is not there names none of others', async () => {
    const hint = async (by: string, name: string) =>
      (await write(by, 'www', { zone: name })).body.error.split(';')[1]
    expect(await hint(zenith, `zenitt.${zone}`)).toContain(`did you mean "zenith.${zone}"?`)
    expect(await hint(acme, `zenitt.${zone}`)).not.toContain('zenith')
    expect(await hint(acme, 'plein.example.')).not.toContain('plain')
  })

  test('a zone that is given to one stays so: others register no domain in it', async () => {
    for (const name of [`zenith.${zone}`, `own.zenith.${zone}`, 'shop.plain.example']) {
      const refused = await call(acme, 'POST', '/domains', { domain: name })
      expect([refused.status, refused.body.error]).toEqual([
        409,
        `domain: ${name}${name.endsWith('.') ? '' : '.'} is taken: it is at, above or below a ` +
          'name of somebody else',
      ])
    }
    const inner = { zone: `zenith.${zone}` }
    const taken = await write(acme, 'www', inner)
    expect(taken.status).toBe(400)
    expect(taken.body.error).toContain(`the zone zenith.${zone} is not given to tenant "acme"`)
    expect((await write(zenith, 'www', inner)).status).toBe(201)
    await register(zenith, `zenith.${zone}`)
  })
})
