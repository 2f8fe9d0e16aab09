// Keys of signed zones by the API, on a vault and what rolls its keys as a node has them.
import { afterAll, beforeAll, expect, test } from 'vitest'
import { signingAlgorithm } from '#dns/dnssec/algorithms.ts'
import { bindKeyFiles } from '#dns/dnssec/key-files.ts'
import type { KeyRecord } from '#dns/dnssec/key-record.ts'
import { generateZoneKey } from '#dns/dnssec/zone-key.ts'
import type { ZoneKey } from '#dns/dnssec/zone-key.ts'
import { keyOf, rootKey } from '#test/support/config-world.ts'
import type { ConfigWorld } from '#test/support/config-world.ts'
import { wireName } from '#test/support/dns/wire-name.ts'
import { startZoneKeysWorld } from '#test/support/dns/zone-keys-world.ts'
import type { ZoneKeysWorld } from '#test/support/dns/zone-keys-world.ts'

const zone = 'gslb.example.com.'
const other = 'other.example.'
const settings = `apiVersion: gslb/v1
kind: Settings
metadata: { name: settings }
spec:
  defaults: { nameservers: [{ name: ns1.example.net. }] }
  zones: [{ name: ${other}, tenants: [acme, zenith] }]
`
const newKey = () => generateZoneKey(signingAlgorithm(13)!)
let keys: ZoneKeysWorld
let world: ConfigWorld
let first: KeyRecord

beforeAll(async () => {
  keys = await startZoneKeysWorld(zone, other, settings)
  ;({ world, first } = keys)
  await world.call(keyOf('acme'), 'POST', '/domains', { domain: 'gslb.example.com' })
})
afterAll(() => keys.stop())

const call = (method: string, path = '', body?: unknown, by = rootKey) =>
  world.call(by, method, `/dnssec/zones${path}`, body)

test('a tenant sees the zones that it has as delegated domains, administrators all', async () => {
  const names = async (by: string) =>
    (await call('GET', '', undefined, by)).list.map(
      (one) => (one as unknown as { zone: string }).zone,
    )
  expect(await names(rootKey)).toEqual([zone, other])
  expect(await names(keyOf('acme'))).toEqual([zone])
  expect(await names(keyOf('zenith'))).toEqual([])
  expect((await call('GET', `/${zone}`, undefined, keyOf('zenith'))).status).toBe(404)
  expect((await call('GET', '/GSLB.example.com', undefined, keyOf('acme'))).status).toBe(200)
})

test('a domain in a zone of several tenants gives none of them its keys', async () => {
  const made = await world.call(keyOf('acme'), 'POST', '/domains', { domain: 'other.example' })
  expect(made.status).toBe(201)
  expect((await call('GET', `/${other}`, undefined, keyOf('acme'))).status).toBe(404)
})

test('a key is shown with its DS, and without its private half', async () => {
  const { body } = await call('GET', `/${zone}`)
  const key = { id: `13-${first.tag}`, state: 'active', role: 'csk', inCds: false, retiredAt: null }
  expect(body).toMatchObject({ zone, fault: null, keys: [{ ...key, publishedAt: 5_000 }] })
  expect(JSON.stringify(body)).toContain(`"${first.tag} 13 2 `)
  const octets = Buffer.from(first.publicKey.subarray(4)).toString('base64')
  expect(JSON.stringify(body)).toContain(`"257 3 13 ${octets}"`)
  const secret = Buffer.from(first.secret!).toString('base64').slice(-40)
  expect(JSON.stringify(body)).not.toContain(secret)
})

test('a roll begins once; another one is an emergency, or 409', async () => {
  const rolled = await call('POST', `/${zone}/roll`, { which: 'csk' })
  expect([rolled.status, (rolled.body as unknown as { keys: unknown[] }).keys.length]).toEqual([
    202, 2,
  ])
  expect((await call('POST', `/${zone}/roll`, {})).status).toBe(409)
  expect((await call('POST', `/${zone}/roll`, { which: 'zsk', emergency: true })).status).toBe(409)
  const unknown = await call('POST', `/${zone}/roll`, { which: 'algorithm' })
  expect(unknown.status).toBe(400)
  expect(JSON.stringify(unknown.body)).toContain('which: must be one of all, csk, ksk, zsk,')
  expect((await call('POST', `/${zone}/roll`, { emergency: true })).status).toBe(202)
  expect((await call('POST', '/none.example./roll', {})).status).toBe(404)
})

test('a DS that may not be there yet, or of no key, is not said to be there', async () => {
  const said = (tag: unknown) => call('POST', `/${zone}/ds-seen`, { tag })
  expect((await said(70_000)).status).toBe(400)
  expect((await said(undefined)).status).toBe(400)
  expect((await said(first.tag === 1 ? 2 : 1)).status).toBe(409)
  expect(await said(first.tag)).toMatchObject({
    ...{ status: 409, body: { error: expect.stringContaining('may not have its DS') as unknown } },
  })
  expect((await call('POST', '/none.example./ds-seen', { tag: 1 })).status).toBe(404)
})

test('a key of BIND is imported once, into its own zone', async () => {
  const files = bindKeyFiles({ zone: wireName(other), key: newKey() }, 0)
  const body = { record: files.record, privateKey: files.secret }
  expect((await call('POST', `/${zone}/keys`, body)).status).toBe(400)
  const made = await call('POST', `/${other}/keys`, body)
  expect([made.status, made.body]).toMatchObject([201, { signsRecords: true, signsKeys: true }])
  expect((await call('POST', `/${other}/keys`, body)).status).toBe(409)
  const wrong = await call('POST', `/${other}/keys`, { ...body, privateKey: 'PrivateKey: AAAA' })
  expect(wrong.status).toBe(400)
  expect(JSON.stringify(wrong.body)).not.toContain('AAAA')
})

test.each([
  ['is shown, and in CDS beside the key of this server', other, 257, true],
  ['that signs records is shown alone', other, 256, false],
  ['is not in CDS before the DS of the key of this server may be given', zone, 257, false],
])('a key of another server %s', async (_what, name, flags, inCds) => {
  const read = async () => (await call('GET', `/${name}`)).body as unknown as { keys: unknown[] }
  const before = await read()
  const key = generateZoneKey(signingAlgorithm(13)!, flags)
  const { record } = bindKeyFiles({ zone: wireName(name), key }, 0)
  const made = await call('POST', `/${name}/keys`, { record })
  const expected = { hasPrivateKey: false, signsRecords: false, signsKeys: false, inCds, flags }
  expect([made.status, made.body]).toMatchObject([201, expected])
  expect((await call('POST', `/${name}/keys`, { record })).status).toBe(409)
  expect((await read()).keys).toHaveLength(before.keys.length + 1)
  expect((await call('DELETE', `/${name}/keys/13-${key.tag}`)).status).toBe(204)
  expect((await read()).keys).toEqual(before.keys)
})

test.each([
  ['is shown and signs keys', 13, { state: 'published', signsKeys: true }],
  ['of another algorithm is not shown', 15, { state: 'created', signsKeys: false }],
])('an imported key beside one that the parent may have %s', async (_, algorithm, expected) => {
  const key = generateZoneKey(signingAlgorithm(algorithm)!)
  const { record, secret } = bindKeyFiles({ zone: wireName(other), key }, 0)
  const made = await call('POST', `/${other}/keys`, { record, privateKey: secret })
  expect(made.body).toMatchObject({ ...expected, signsRecords: false, inCds: false })
  const { body } = await call('GET', `/${other}`)
  const [old] = (body as unknown as { keys: unknown[] }).keys
  expect(old).toMatchObject({ signsRecords: true, inCds: true })
})

test.each([
  ['of another algorithm', 15, zone, 409],
  ['beside no own key', 13, 'unkeyed.example.', 404],
])('a key of another server %s is refused', async (_what, algorithm, name, status) => {
  const key = generateZoneKey(signingAlgorithm(algorithm)!)
  const { record } = bindKeyFiles({ zone: wireName(name), key }, 0)
  expect((await call('POST', `/${name}/keys`, { record })).status).toBe(status)
  expect((await call('POST', `/${zone}/keys`, { record: 'x' })).status).toBe(400)
})

test.each([
  ['of too few octets', '257 3 13 AAAA', /of ECDSAP256SHA256 has 64 octets, and this one has 3/],
  ['of too many octets', `256 3 13 ${Buffer.alloc(66).toString('base64')}`, /and this one has 66/],
  ['of no point', `257 3 13 ${Buffer.alloc(64, 1).toString('base64')}`, /no point of its curve/],
])('a key of another server %s is refused', async (_what, rdata, said) => {
  const made = await call('POST', `/${zone}/keys`, { record: `${zone} IN DNSKEY ${rdata}` })
  expect(made.status).toBe(400)
  expect(JSON.stringify(made.body)).toMatch(said)
})

/** Tags have 16 bits: some hundred keys are enough. */
function twoOfOneTag(): readonly [ZoneKey, ZoneKey] {
  const known = new Map<number, ZoneKey>()
  for (;;) {
    const key = generateZoneKey(signingAlgorithm(13)!, 256)
    const same = known.get(key.tag)
    if (same !== undefined) return [same, key]
    known.set(key.tag, key)
  }
}

test('a second key of one tag is refused, and the first one can be removed', async () => {
  const [former, latter] = twoOfOneTag()
  const post = ({ rdata }: ZoneKey) => {
    const octets = Buffer.from(rdata.subarray(4)).toString('base64')
    return call('POST', `/${zone}/keys`, { record: `${zone} IN DNSKEY 256 3 13 ${octets}` })
  }
  const { status, body } = await post(former)
  expect(status).toBe(201)
  const second = await post(latter)
  expect(second.status).toBe(409)
  expect(JSON.stringify(second.body)).toContain('another key with the tag')
  const { id } = body as unknown as { id: string }
  const remove = () => call('DELETE', `/${zone}/keys/${id}`)
  expect([(await remove()).status, (await remove()).status]).toEqual([204, 404])
})

test('a key in use is not removed', async () => {
  expect((await call('DELETE', `/${zone}/keys/13-${first.tag}`)).status).toBe(409)
  expect((await call('DELETE', `/${zone}/keys/13-99999`)).status).toBe(404)
})
