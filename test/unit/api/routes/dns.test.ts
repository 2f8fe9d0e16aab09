import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { unseal } from '#lib/secret-box.ts'
import { systemKey } from '#access/auth/policy.ts'
import { dynamicDnsLimits, tsigAlgorithmNames } from '#state/ports/dynamic-dns.ts'
import type { DynamicDnsStore, HiddenBy } from '#state/ports/dynamic-dns.ts'
import { tsigAlgorithms } from '#dns/tsig/tsig-algorithms.ts'
import { valueBytesMax } from '#api/resources/txt-record.ts'
import { devMode } from '#test/support/api-ports.ts'
import { keyOf, rootKey, startConfigWorld } from '#test/support/config-world.ts'
import type { Answered, ConfigWorld } from '#test/support/config-world.ts'
import { persistentAdapters } from '#test/support/persistent-adapters.ts'
import { valueOf } from '#test/support/store-values.ts'

const [acme, zenith] = [keyOf('acme'), keyOf('zenith')]
const secretKey = Buffer.alloc(32, 7)
const auth = { ...devMode, systemKey: systemKey(rootKey), secretKey }
let world: ConfigWorld
/** As if the bundle said so. */
const hidden = new Map<string, HiddenBy>()
let stop: () => Promise<void>
let store: DynamicDnsStore
beforeAll(async () => {
  const running = await persistentAdapters[0]![1]()
  const hiddenBy = (name: string) => hidden.get(name)
  store = running.state.dynamicDns
  const ports = { dynamicDns: store, auth, hiddenBy }
  world = await startConfigWorld({ ports })
  stop = async () => {
    await world.close()
    await running.state.close()
    await running.stop()
  }
  const services: readonly [string, string, string][] = [
    [acme, 'www', 'www.example.com.'],
    [acme, 'apps', '*.apps.example.com.'],
    [zenith, 'top', 'example.net.'],
  ]
  for (const [by, name, domain] of services) {
    expect((await world.call(by, 'POST', '/services', { name, domain })).status).toBe(201)
  }
})
afterAll(() => stop())

const keys = '/dns/tsig-keys'
const records = '/dns/txt-records'
const post = (by: string, path: string, body: unknown): Promise<Answered> =>
  world.call(by, 'POST', path, body)
const bodyOf = ({ text }: Answered): Record<string, unknown> =>
  JSON.parse(text) as Record<string, unknown>

describe('a record written at run time', () => {
  test('of any type is listed with its writer, and deleted', async () => {
    const made = await post(acme, keys, { name: 'dhcp.example', scope: 'host.example.org' })
    const add = { verb: 'add', name: 'host.example.org.', ttlSeconds: 30 } as const
    const changes = [
      { ...add, type: 1, rdata: 'wAACFA==' },
      { ...add, type: 49, rdata: 'AAIBY2A=' },
      { ...add, type: 16, rdata: 'AWE=' },
    ]
    await valueOf(store.applyChanges(String(bodyOf(made)['id']), changes, 5_000))
    hidden.set('host.example.org.', 'declared')
    const listed = await world.call(acme, 'GET', '/dns/written-records?name=host.example.org')
    const all = JSON.parse(listed.text) as { readonly id: string; readonly type: string }[]
    const common = { tenantId: 'acme', name: 'host.example.org.', ttl: 30, createdAt: 5 }
    const written = { writtenBy: 'key:dhcp.example.', hiddenBy: 'declared' }
    const found = all.toSorted((a, b) => (a.type < b.type ? -1 : 1))
    expect(found).toMatchObject([
      { ...common, ...written, type: 'A', value: '192.0.2.20' },
      { ...common, ...written, type: 'DHCID', value: 'AAIBY2A=' },
      { ...common, ...written, type: 'TXT', value: '"a"' },
    ])
    hidden.clear()
    const texts = await world.call(acme, 'GET', '/dns/txt-records?name=host.example.org')
    expect(JSON.parse(texts.text)).toHaveLength(1)
    const asText = await world.call(acme, 'DELETE', `/dns/txt-records/${found[0]!.id}`)
    expect(asText.status).toBe(404)
    const path = `/dns/written-records/${found[0]!.id}`
    expect((await world.call(zenith, 'DELETE', path)).status).toBe(404)
    expect((await world.call(acme, 'DELETE', path)).status).toBe(204)
    expect((await world.call(acme, 'DELETE', path)).status).toBe(404)
    for (const { id } of found.slice(1)) {
      expect((await world.call(acme, 'DELETE', `/dns/written-records/${id}`)).status).toBe(204)
    }
    const gone = await world.call(acme, 'DELETE', `/dns/tsig-keys/${String(bodyOf(made)['id'])}`)
    expect(gone.status).toBe(204)
  })
})

describe('a TSIG key', () => {
  test('shows its secret once: 32 octets, sealed in the store', async () => {
    const made = await post(acme, keys, { name: 'Certbot.Example' })
    expect(made.status).toBe(201)
    const { secret, ...rest } = bodyOf(made)
    expect(rest).toMatchObject({
      ...{ tenantId: 'acme', name: 'certbot.example.', algorithm: 'hmac-sha256.', scope: null },
      createdAt: made.body.createdAt,
    })
    expect(Buffer.from(String(secret), 'base64')).toHaveLength(32)
    const listed = await world.call(acme, 'GET', keys)
    expect(JSON.parse(listed.text)).toEqual([rest])
    const [stored] = await valueOf(world.ports.dynamicDns.listKeys({ tenantId: 'acme' }))
    expect(stored?.secretCiphertext).not.toContain(secret)
    expect(unseal(secretKey, stored!.secretCiphertext)).toEqual({ ok: true, value: secret })
    expect((await world.call(zenith, 'GET', keys)).text).toBe('[]')
    const again = await post(zenith, keys, { name: 'CERTBOT.example.' })
    expect([again.status, again.body.error]).toEqual([409, 'name: another key has it'])
    const path = `${keys}/${made.body.id}`
    expect((await world.call(zenith, 'DELETE', path)).status).toBe(404)
    expect((await world.call(acme, 'DELETE', path)).status).toBe(204)
    expect((await world.call(acme, 'DELETE', path)).status).toBe(404)
  })

  test.each([
    ['MDEyMzQ1Njc4OWFiY2RlZg==', 201],
    [Buffer.alloc(64, 7).toString('base64'), 201],
    [Buffer.alloc(15, 7).toString('base64'), 400],
    [Buffer.alloc(65, 7).toString('base64'), 400],
    ['MDEyMzQ1Njc4OWFiY2RlZg', 400],
  ])('takes the secret of another server, %s: %i', async (secret, status) => {
    const name = `given${Buffer.from(secret, 'base64').length}.example`
    const made = await post(acme, keys, { name, secret })
    expect(made.status).toBe(status)
    if (status === 201) expect(bodyOf(made)['secret']).toBe(secret)
  })

  test.each([
    ['hmac-sha512.', 201, 'hmac-sha512.'],
    ['HMAC-SHA1', 201, 'hmac-sha1.'],
    ['hmac-md5.sig-alg.reg.int.', 400, 'algorithm: MD5 is too weak'],
    ['hmac-sha3', 400, 'algorithm: is no algorithm of this server; write one of hmac-sha256.'],
  ])('for %s is answered with %i', async (algorithm, status, says) => {
    const made = await post(acme, keys, { name: `${status}.${algorithm}`, algorithm })
    expect(made.status).toBe(status)
    expect(made.text).toContain(says)
  })

  test('has the algorithms that messages are checked with', () => {
    expect([...tsigAlgorithmNames].sort()).toEqual(tsigAlgorithms.map(({ name }) => name).sort())
  })

  test.each([
    [acme, '_acme-challenge.www.example.com', 201, '"scope":"_acme-challenge.www.example.com."'],
    [zenith, 'www.example.com.', 409, 'scope: www.example.com. is taken'],
    [rootKey, 'www.example.com.', 201, '"scope":"www.example.com."'],
  ])('may be limited to names that are its tenant’s (%#)', async (by, scope, status, says) => {
    const made = await post(by, keys, { name: `${Math.random()}.scoped.example.`, scope })
    expect([made.status, made.text.includes(says)]).toEqual([status, true])
  })

  test.each([
    [{}, 'name'],
    [{ name: '' }, 'name'],
    [{ name: 'two words' }, 'name: must be a domain name'],
    [{ name: 'a..b' }, 'name: must be a domain name'],
    [{ name: '*.example.' }, 'name: must be a domain name'],
    [{ name: `${'a'.repeat(64)}.example.` }, 'name: must be a domain name'],
    [{ name: 'k.example.', secret: 'mine' }, 'secret: must be Base64 of 16 to 64 octets'],
    [{ name: 'k.example.', scope: 'a b' }, 'scope: must be a domain name'],
  ])('%j is refused', async (body, says) => {
    const answer = await post(acme, keys, body)
    expect([answer.status, answer.body.error]).toEqual([400, expect.stringContaining(says)])
  })

  test('needs GSLB_SECRET_KEY: without it 503 and what to do', async () => {
    const bare = await startConfigWorld({ ports: { dynamicDns: world.ports.dynamicDns } })
    try {
      const answer = await bare.call(rootKey, 'POST', keys, { name: 'k.example.' })
      expect(answer.status).toBe(503)
      expect(answer.body.error).toMatch(/no GSLB_SECRET_KEY.*openssl rand -hex 32/)
      expect((await bare.call(rootKey, 'GET', keys)).status).toBe(200)
    } finally {
      await bare.close()
    }
  })
})

describe('a TXT record', () => {
  test('is made, listed and deleted', async () => {
    const name = '_acme-challenge.WWW.example.com'
    const made = await post(acme, records, { name, value: 'token' })
    const record = bodyOf(made)
    expect([made.status, record]).toMatchObject([
      201,
      { name: '_acme-challenge.www.example.com.', value: 'token', ttl: 60, tenantId: 'acme' },
    ])
    expect(JSON.parse((await world.call(acme, 'GET', records)).text)).toEqual([record])
    expect((await world.call(zenith, 'GET', records)).text).toBe('[]')
    const twin = await post(acme, records, { name, value: 'token', ttl: 5 })
    expect([twin.status, twin.body.error]).toEqual([409, 'value: the name has it already'])
    const path = `${records}/${made.body.id}`
    expect((await world.call(zenith, 'DELETE', path)).status).toBe(404)
    expect((await world.call(acme, 'DELETE', path)).status).toBe(204)
    expect((await world.call(acme, 'GET', records)).text).toBe('[]')
  })

  test.each([
    ['x'.repeat(255), 1],
    ['x'.repeat(256), 2],
    ['ü'.repeat(valueBytesMax / 2), 16],
    ['"quoted" \\ ; \t\n\u0000', 1],
  ])('has as many strings as its value needs (%#)', async (value, strings) => {
    const made = await post(acme, records, { name: 'www.example.com.', value, ttl: 0 })
    expect(made.status).toBe(201)
    expect(bodyOf(made)).toMatchObject({ value, ttl: 0 })
    const all = await valueOf(world.ports.dynamicDns.listRecords({ tenantId: 'acme' }))
    const octets = Buffer.from(all.find(({ id }) => id === made.body.id)!.rdata, 'base64')
    expect(octets.length).toBe(Buffer.byteLength(value) + strings)
    expect(octets.length).toBeLessThanOrEqual(dynamicDnsLimits.rdataBytesMax)
    await world.call(acme, 'DELETE', `${records}/${made.body.id}`)
  })

  const below = '_acme-challenge'
  test.each([
    [acme, `${below}.www.example.com.`, 201],
    [acme, 'www.example.com.', 201],
    [acme, `${below}.example.com.`, 201],
    [zenith, `${below}.example.com.`, 409],
    [zenith, 'com.', 409],
    // Names of the wildcard, and of what it matches.
    [acme, `${below}.apps.example.com.`, 201],
    [acme, `${below}.two.apps.example.com.`, 201],
    [zenith, `${below}.one.apps.example.com.`, 409],
    [zenith, `${below}.apps.example.com.`, 409],
    [zenith, `${below}.example.net.`, 201],
    [acme, `${below}.acme.example.net.`, 409],
    [acme, '*.www.example.com.', 201],
    [zenith, '*.one.apps.example.com.', 409],
    // Beside it, and free.
    [zenith, 'xwww.example.com.', 201],
    [rootKey, `${below}.anything.example.org.`, 201],
  ])('is a tenant’s own (%#): %s', async (by, name, status) => {
    const answer = await post(by, records, { name, value: 'v' })
    expect([answer.status, answer.text]).toEqual([status, expect.any(String)])
    if (status === 409) expect(answer.body.error).toContain(`name: ${name} is taken`)
    else await world.call(by, 'DELETE', `${records}/${answer.body.id}`)
  })

  test.each([
    [{ name: 'www.example.com.' }, 'value'],
    [{ name: 'www.example.com.', value: '' }, 'value'],
    [{ name: 'www.example.com.', value: 'ü'.repeat(valueBytesMax / 2 + 1) }, 'value: must be at'],
    [{ name: 'www.example.com.', value: 7 }, 'value'],
    [{ name: 'www.example.com.', value: 'v', ttl: -1 }, 'ttl'],
    [{ name: 'www.example.com.', value: 'v', ttl: 2 ** 31 }, 'ttl'],
    [{ name: '.', value: 'v' }, 'name: must be a domain name'],
    [{ name: '*', value: 'v' }, 'name: must be a domain name'],
    [{ name: 'www.*.example.com.', value: 'v' }, 'name: must be a domain name'],
    [{ name: 'a\\.www.example.com.', value: 'v' }, 'name: must be a domain name'],
  ])('%j is refused', async (body, says) => {
    const answer = await post(acme, records, body)
    expect([answer.status, answer.body.error]).toEqual([400, expect.stringContaining(says)])
  })

  test('is one of at most so many of a name', async () => {
    const { recordsPerNameMax } = dynamicDnsLimits
    for (let i = 0; i < recordsPerNameMax; i++) {
      const made = await post(acme, records, { name: 'full.www.example.com.', value: `${i}` })
      expect(made.status).toBe(201)
    }
    const more = await post(acme, records, { name: 'full.www.example.com.', value: 'more' })
    expect([more.status, more.body.error]).toEqual([409, expect.stringContaining('at most')])
    const page = await world.call(acme, 'GET', `${records}?limit=3`)
    expect(page.list).toHaveLength(3)
    const next = await world.call(acme, 'GET', `${records}?cursor=${page.headers['x-next-cursor']}`)
    expect(next.list).toHaveLength(recordsPerNameMax - 3)
  })
})

test('a record that nobody would get is refused; one that is hidden later says so', async () => {
  const name = 'hidden.www.example.com.'
  const made = await post(acme, records, { name, value: 'x' })
  expect([made.status, bodyOf(made)['hiddenBy']]).toEqual([201, null])
  for (const [by, words] of [
    ['alias', 'is an alias (CNAME)'],
    ['delegation', 'is delegated to other servers'],
    ['dname', 'is below a DNAME'],
  ] as const) {
    hidden.set(name, by)
    const refused = await post(acme, records, { name, value: 'y' })
    expect([refused.status, refused.body.error]).toEqual([
      409,
      expect.stringContaining(`name: ${name} ${words}, so that nobody would get the record`),
    ])
    const listed = await world.call(acme, 'GET', records)
    const shown = (JSON.parse(listed.text) as Record<string, unknown>[]).find(
      (one) => one['name'] === name,
    )
    expect(shown).toMatchObject({ value: 'x', hiddenBy: by })
  }
  hidden.delete(name)
  const path = `${records}/${bodyOf(made)['id'] as string}`
  expect((await world.call(acme, 'DELETE', path)).status).toBe(204)
})
