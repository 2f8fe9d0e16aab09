import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { systemKey } from '#access/auth/policy.ts'
import type { ApiPorts } from '#ports/ports.ts'
import { ok } from '#lib/result.ts'
import { devMode } from '#test/support/api-ports.ts'
import { keyOf, rootKey, startConfigWorld } from '#test/support/config-world.ts'
import type { Answered, ConfigWorld } from '#test/support/config-world.ts'
import { persistentAdapters } from '#test/support/persistent-adapters.ts'

const [acme, zenith] = [keyOf('acme'), keyOf('zenith')]
const auth = {
  ...devMode,
  systemKey: systemKey(rootKey),
  secretKey: Buffer.alloc(32, 7),
}
const settingsOf = (spec: string): string =>
  `apiVersion: gslb/v1\nkind: Settings\nmetadata: { name: settings }\nspec: ${spec}\n`

interface Wanted {
  readonly path: string
  readonly body: (name: string) => object
}

/** Domains that their last check has found so. */
const verified = new Set<string>()
let made = 0
const service: Wanted = {
  path: '/services',
  body: (domain) => ({ name: `service ${made++}`, domain, poolId: null }),
}
const redirect: Wanted = {
  path: '/redirects',
  body: (name) => ({ sourceFqdn: name.replace(/\.$/, ''), targetUrl: 'https://zenith.example/' }),
}
const text: Wanted = { path: '/dns/txt-records', body: (name) => ({ name, value: `${made++}` }) }
const domain: Wanted = { path: '/domains', body: (name) => ({ domain: name }) }
const post = (of: ConfigWorld, by: string, { path, body }: Wanted, name: string) =>
  of.call(by, 'POST', path, body(name))

let world: ConfigWorld
let owned: ConfigWorld
let stop: () => Promise<void>
beforeAll(async () => {
  const running = await persistentAdapters[0]![1]()
  const domains = {
    results: async (uids: readonly string[]) => {
      const found = uids.map((uid) => [uid, { domain: [...verified][0], nsOk: true }] as const)
      return ok(new Map(found))
    },
  } as unknown as ApiPorts['domains']
  const ports = { auth, domains, dynamicDns: running.state.dynamicDns }
  world = await startConfigWorld({
    ports,
    settings: settingsOf(
      '{ zones: [{ name: zoned.example., nameservers: [{ name: ns1.example.net. }],' +
        ' tenants: [acme] }, { name: open.example., nameservers: [{ name: ns1.example.net. }] }] }',
    ),
  })
  owned = await startConfigWorld({
    ports,
    settings: settingsOf(
      '{ names: owned, zones: [{ name: zoned.example., tenants: [acme],' +
        ' nameservers: [{ name: ns1.example.net. }] }] }',
    ),
  })
  stop = async () => {
    await Promise.all([world.close(), owned.close()])
    await running.state.close()
    await running.stop()
  }
  for (const [wanted, name] of [
    [service, 'www.victim.example.'],
    [service, '*.apps.victim.example.'],
    [redirect, 'old.victim.example.'],
    [domain, 'acme.example.'],
  ] as const) {
    expect(await post(world, acme, wanted, name)).toMatchObject({ status: 201 })
  }
})
afterAll(() => stop())

const refused = ({ status, text: said }: Answered, field: string): void => {
  expect([status, said]).toEqual([409, expect.stringContaining(`${field}: `)])
  expect(said).not.toContain('acme"')
  expect(said).not.toContain('tenants/')
}

const names = [
  // Below: the challenge of a certificate, and any name.
  '_acme-challenge.www.victim.example.',
  'a.www.victim.example.',
  '*.www.victim.example.',
  // At.
  'www.victim.example.',
  // Above: the apex, the domain of all, and what speaks for them.
  'victim.example.',
  'example.',
  '_acme-challenge.victim.example.',
  '*.victim.example.',
  '*.example.',
  // Inside a wildcard.
  'x.apps.victim.example.',
  'apps.victim.example.',
  // Names of a redirect, of a delegated domain and of a zone.
  '_acme-challenge.old.victim.example.',
  'www.acme.example.',
  'acme.example.',
  'zoned.example.',
  'www.zoned.example.',
] as const

describe('a name of another tenant is refused', () => {
  test.each(names)('%s', async (name) => {
    refused(await post(world, zenith, service, name), 'domain')
    refused(await post(world, zenith, text, name), 'name')
    // Redirects and domains have no asterisk here.
    if (name.startsWith('*')) return
    refused(await post(world, zenith, redirect, name), 'sourceFqdn')
    // Domains give no right in a zone that does not say so, and are registered there as before.
    if (!name.endsWith('zoned.example.')) {
      refused(await post(world, zenith, domain, name), 'domain')
    }
  })

  test('also where something moves there; what is there already can be changed', async () => {
    const own = await post(world, zenith, service, 'own.zenith.test.')
    const path = `/services/${own.body.id}`
    refused(await world.call(zenith, 'PATCH', path, { domain: 'x.www.victim.example.' }), 'domain')
    expect((await world.call(zenith, 'PATCH', path, { ttl: 77 })).status).toBe(200)
    expect((await world.call(zenith, 'DELETE', path)).status).toBe(204)
  })

  test('a key for updates is not made for it', async () => {
    const body = { name: 'key.zenith.test.', scope: '_acme-challenge.www.victim.example.' }
    refused(await world.call(zenith, 'POST', '/dns/tsig-keys', body), 'scope')
  })

  test('requests of the same moment do not both get it', async () => {
    const both = await Promise.all([
      post(world, acme, service, 'race.example.org.'),
      post(world, zenith, service, 'a.race.example.org.'),
    ])
    expect(both.map(({ status }) => status).sort()).toEqual([201, 409])
  })
})

describe('a name is free', () => {
  test.each(['free.example.', 'a.open.example.', '_acme-challenge.b.open.example.'])(
    'where nothing of others is at, above or below it: %s',
    async (name) => {
      expect(await post(world, zenith, service, name)).toMatchObject({ status: 201 })
      expect(await post(world, zenith, text, name)).toMatchObject({ status: 201 })
      refused(await post(world, acme, text, `_acme-challenge.${name}`), 'name')
    },
  )

  test('below, beside and above the names that its tenant has', async () => {
    for (const name of [
      '_acme-challenge.www.victim.example.',
      'victim.example.',
      'x.acme.example.',
    ]) {
      expect(await post(world, acme, service, name)).toMatchObject({ status: 201 })
    }
    expect(await post(world, acme, redirect, 'a.victim.example.')).toMatchObject({ status: 201 })
  })

  test('until it is let go', async () => {
    const first = await post(world, acme, service, 'moves.example.org.')
    refused(await post(world, zenith, service, 'moves.example.org.'), 'domain')
    expect((await world.call(acme, 'DELETE', `/services/${first.body.id}`)).status).toBe(204)
    expect(await post(world, zenith, service, 'moves.example.org.')).toMatchObject({ status: 201 })
  })
})

test('an object that one request makes and changes leaves its last name alone', async () => {
  const { configWriter, config } = world.ports
  const uid = '01977777-7777-7777-8777-777777777777'
  const actor = { name: 'test', address: 'test@users.gslbd' }
  const of = { kind: 'Service', tenant: 'zenith' } as const
  const done = await configWriter.write({
    ...{ requestId: 'several', actor },
    operations: [
      { verb: 'create', ...of, name: 'twice', uid, spec: { domain: 'first.twice.test.' } },
      { verb: 'update', kind: 'Service', target: { uid }, patch: { domain: 'last.twice.test.' } },
    ],
  })
  expect(done.ok).toBe(true)
  const names = config.snapshot().names()
  expect(names.claimsAt('first.twice.test.')).toEqual([])
  expect(names.claimsAt('last.twice.test.')).toMatchObject([{ tenant: 'zenith' }])
  expect(names.hasOthersBelow('acme', 'twice.test.')).toBe(true)
  expect((await world.call(rootKey, 'DELETE', `/services/${uid}`)).status).toBe(204)
  expect(config.snapshot().names().hasOthersBelow('acme', 'twice.test.')).toBe(false)
  expect(await post(world, acme, service, 'first.twice.test.')).toMatchObject({ status: 201 })
})

test('a system administrator may have any name; those around it keep their tenants', async () => {
  for (const name of ['b.www.victim.example.', 'test.victim.example.', 'example.', '*.example.']) {
    expect(await post(world, rootKey, service, name)).toMatchObject({ status: 201 })
    expect(await post(world, rootKey, text, name)).toMatchObject({ status: 201 })
    if (name.startsWith('*')) continue
    expect(await post(world, rootKey, redirect, name)).toMatchObject({ status: 201 })
  }
  expect(await post(world, acme, service, 'c.www.victim.example.')).toMatchObject({ status: 201 })
  expect(await post(world, zenith, service, 'later.example.')).toMatchObject({ status: 201 })
  refused(await post(world, zenith, service, 'd.www.victim.example.'), 'domain')
})

test('with names: owned nobody takes what was not given', async () => {
  const free = await post(owned, zenith, service, 'free.example.')
  expect([free.status, free.body.error]).toEqual([
    409,
    expect.stringContaining('domain: free.example. is in no delegated domain and no zone'),
  ])
  expect((await post(owned, zenith, text, 'free.example.')).status).toBe(409)
  expect((await post(owned, acme, service, 'www.zoned.example.')).status).toBe(201)
  expect((await post(owned, rootKey, service, 'free.example.')).status).toBe(201)
  // A delegated domain gives its names as soon as it is verified.
  expect((await post(owned, zenith, domain, 'zenith.test')).status).toBe(201)
  const unverified = await post(owned, zenith, service, 'www.zenith.test.')
  expect([unverified.status, unverified.body.error]).toEqual([
    409,
    expect.stringContaining('the domain zenith.test., which is not verified'),
  ])
  expect((await post(owned, zenith, text, '_acme-challenge.zenith.test.')).status).toBe(409)
  verified.add('zenith.test.')
  expect((await post(owned, zenith, service, 'www.zenith.test.')).status).toBe(201)
  expect((await post(owned, zenith, text, '_acme-challenge.www.zenith.test.')).status).toBe(201)
})

test.each([
  [rootKey, 'zoned.example', 'tenant \\"default\\" no names: the zone zoned.example. is for oth'],
  [
    rootKey,
    'own.zoned.example',
    'tenant \\"default\\" no names: the zone zoned.example. is for oth',
  ],
  [acme, 'zoned.example', undefined],
  [rootKey, 'in-no-zone.example', undefined],
])('a domain that gives its tenant no names is told of: %s, %s', async (by, name, says) => {
  const dry = { ...domain, path: '/domains?dryRun=true' }
  const { status, headers } = await post(world, by, dry, name)
  const warning = headers['x-gslb-warnings']
  expect(status).toBe(201)
  if (says === undefined) expect(warning).toBeUndefined()
  else expect(warning).toContain(says)
})
