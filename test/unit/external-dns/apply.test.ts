// Tests that writes of external-dns become plain records: a commit of the tenant for each change.
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { keyOf } from '#test/support/config-world.ts'
import type { ModelEndpoint } from '#test/support/external-dns.ts'
import { acmeZone, startExternalDnsWorld } from '#test/support/external-dns-world.ts'
import type { ExternalDnsWorld } from '#test/support/external-dns-world.ts'

let site: ExternalDnsWorld
beforeAll(async () => {
  site = await startExternalDnsWorld()
})
afterAll(() => site.close())
/** Each test begins without what the one before has made. */
beforeEach(async () => {
  for (const { id } of (await site.world.call(keyOf('acme'), 'GET', '/records')).list) {
    await site.world.call(keyOf('acme'), 'DELETE', `/records/${id}`)
  }
  expect(Object.keys(site.files())).toEqual([])
})

const a = (dnsName: string, ...targets: string[]): ModelEndpoint => ({
  ...{ dnsName, recordType: 'A', targets },
  labels: { resource: 'ingress/shop/web' },
})
const commits = (): number => Number(site.world.git('rev-list', '--count', 'main'))

test('a name is a file, its ownership record another, in one commit by the tenant', async () => {
  const cluster = site.model({ owner: 'cluster-a' })
  const before = commits()
  const wanted = [{ ...a('www.acme.example', '192.0.2.2', '192.0.2.1'), recordTTL: 60 }]
  expect(await cluster.sync(wanted)).toMatchObject({ status: 204, error: '', sent: 2 })
  expect(commits()).toBe(before + 1)
  const text =
    '"heritage=external-dns,external-dns/owner=cluster-a,' +
    'external-dns/resource=ingress/shop/web"'
  expect(site.files()).toEqual({
    'records/www.acme.example.yaml': expect.stringContaining('192.0.2.1') as string,
    'records/a-www.acme.example.yaml': expect.stringContaining(text) as string,
  })
  expect(site.files()['records/www.acme.example.yaml']).toContain('ttl: 60')
  const log = site.world.git('log', '-1', '--format=%an%n%B', 'main')
  expect(log).toContain('external-dns cluster-a: www.acme.example')
  expect(log).toContain('tenant:acme')
  expect(await cluster.sync(wanted)).toMatchObject({ sent: 0 })
})

const minors = [14, 15, 16, 17, 18, 19, 20, 21]
describe.each(minors)('version 0.%i', (minor) => {
  test('creates, changes and deletes each type, and then sees no difference', async () => {
    // Before 0.18 the record would otherwise also be at the very name, beside the CNAME.
    const prefix = minor < 18 ? '%{record_type}-' : ''
    const cluster = site.model({ owner: `cluster-${minor}`, minor, prefix })
    const all: ModelEndpoint[] = [
      a('www.acme.example', '192.0.2.1'),
      { dnsName: 'www.acme.example', recordType: 'AAAA', targets: ['2001:DB8::1'] },
      { dnsName: 'shop.acme.example', recordType: 'CNAME', targets: ['LB.example.net'] },
      { dnsName: 'post.acme.example', recordType: 'MX', targets: ['10 www.acme.example'] },
      {
        dnsName: 'sub.acme.example',
        recordType: 'NS',
        targets: ['ns1.example.net', 'ns2.example.net'],
      },
      {
        dnsName: '_sip._tcp.acme.example',
        recordType: 'SRV',
        targets: ['0 50 5060 www.acme.example.'],
      },
      a('*.apps.acme.example', '192.0.2.7'),
    ]
    expect(await cluster.sync(all)).toMatchObject({ status: 204, error: '' })
    expect(await cluster.sync(all)).toMatchObject({ sent: 0 })
    const changed = [{ ...all[0]!, targets: ['192.0.2.9'] }, ...all.slice(1, 4)]
    expect(await cluster.sync(changed)).toMatchObject({ status: 204, error: '' })
    expect(await cluster.sync(changed)).toMatchObject({ sent: 0 })
    const left = (await cluster.records()).filter(({ recordType }) => recordType !== 'TXT')
    expect(left.map(({ dnsName, recordType, targets }) => [dnsName, recordType, targets])).toEqual([
      ['post.acme.example', 'MX', ['10 www.acme.example']],
      ['shop.acme.example', 'CNAME', ['lb.example.net']],
      ['www.acme.example', 'A', ['192.0.2.9']],
      ['www.acme.example', 'AAAA', ['2001:db8::1']],
    ])
    expect(await cluster.sync([])).toMatchObject({ status: 204, error: '' })
    expect(Object.keys(site.files())).toEqual([])
  })
})

test('the same change once more is taken, and makes no commit', async () => {
  const cluster = site.model({ owner: 'cluster-a' })
  const wanted = a('www.acme.example', '192.0.2.1')
  const labels = { ...wanted.labels, owner: 'cluster-a' }
  const create = [{ ...wanted, labels }]
  const change = { create, updateOld: [], updateNew: [], delete: [] }
  await cluster.sync([wanted])
  const head = site.head()
  expect(await cluster.apply(change)).toMatchObject({ status: 204, error: '' })
  const gone = {
    ...change,
    create: [],
    delete: [{ ...a('gone.acme.example', '192.0.2.1'), labels }],
  }
  expect(await cluster.apply(gone)).toMatchObject({ status: 204, error: '' })
  expect(site.head()).toBe(head)
})

test('a type that changes leaves one file, with the other type', async () => {
  const cluster = site.model({ owner: 'cluster-a' })
  await cluster.sync([a('www.acme.example', '192.0.2.1')])
  const alias = { dnsName: 'www.acme.example', recordType: 'CNAME', targets: ['lb.example.net'] }
  expect(await cluster.sync([alias])).toMatchObject({ status: 204, error: '' })
  expect(Object.keys(site.files())).toEqual([
    'records/cname-www.acme.example.yaml',
    'records/www.acme.example.yaml',
  ])
  expect(await cluster.sync([alias])).toMatchObject({ sent: 0 })
})

test('a CNAME at the apex is an ALIAS, and is shown as it was asked for', async () => {
  const cluster = site.model({ owner: 'cluster-a', prefix: '%{record_type}.' })
  const wanted = { dnsName: 'acme.example', recordType: 'CNAME', targets: ['lb.example.net'] }
  expect(await cluster.sync([wanted])).toMatchObject({ status: 204, error: '' })
  expect(site.files()['records/acme.example.yaml']).toContain('type: ALIAS')
  expect(await cluster.sync([wanted])).toMatchObject({ sent: 0 })
  expect(await cluster.sync([])).toMatchObject({ status: 204, error: '' })
  expect(Object.keys(site.files())).toEqual([])
})

describe('ownership of names', () => {
  const other = { ...a('www.acme.example', '192.0.2.9'), labels: { owner: 'cluster-b' } }
  const none = { create: [], updateOld: [], updateNew: [], delete: [] }

  test('another cluster neither takes, changes nor deletes it', async () => {
    await site.model({ owner: 'cluster-a' }).sync([a('www.acme.example', '192.0.2.1')])
    const head = site.head()
    const cluster = site.model({ owner: 'cluster-b' })
    // The real one sees the owner, and leaves the name alone.
    expect(await cluster.sync([a('www.acme.example', '192.0.2.9')])).toMatchObject({ sent: 0 })
    const changes = [
      { ...none, create: [other] },
      { ...none, create: [{ ...other, recordType: 'AAAA', targets: ['2001:db8::9'] }] },
      { ...none, updateOld: [other], updateNew: [other] },
      { ...none, delete: [other] },
    ]
    for (const change of changes) {
      const { status, error } = await cluster.apply(change)
      expect([status, error]).toEqual([
        409,
        expect.stringContaining('belongs to the external-dns with the owner id "cluster-a"'),
      ])
    }
    expect(site.head()).toBe(head)
  })

  test('another prefix of ownership records gives no cluster the names of another', async () => {
    const prefix = 'reg-%{record_type}-'
    const first = site.model({ owner: 'cluster-a', prefix })
    await first.sync([a('www.acme.example', '192.0.2.1')])
    expect(await first.sync([a('www.acme.example', '192.0.2.1')])).toMatchObject({ sent: 0 })
    const cluster = site.model({ owner: 'cluster-b' })
    expect(await cluster.apply({ ...none, create: [other] })).toMatchObject({ status: 409 })
  })

  test('records that people have written belong to no cluster, and stay', async () => {
    const own = { zone: acmeZone, name: 'www', type: 'A', values: ['192.0.2.1'] }
    expect((await site.world.call(keyOf('acme'), 'POST', '/records', own)).status).toBe(201)
    const cluster = site.model({ owner: 'cluster-a' })
    expect(await cluster.sync([a('www.acme.example', '192.0.2.9')])).toMatchObject({ sent: 0 })
    const labels = { owner: 'cluster-a' }
    const create = [{ ...a('www.acme.example', '192.0.2.9'), labels }]
    const { status, error } = await cluster.apply({ ...none, create })
    expect([status, error]).toEqual([409, expect.stringContaining('that no external-dns owns')])
  })

  describe('records of people are neither changed nor deleted', () => {
    const old = a('www.acme.example', '192.0.2.1')
    const next = a('www.acme.example', '192.0.2.9')
    const own = { labels: { owner: 'cluster-a' } }
    const text = (owner: string): ModelEndpoint => ({
      ...{ dnsName: 'a-www.acme.example', recordType: 'TXT' },
      targets: [`"heritage=external-dns,external-dns/owner=${owner}"`],
      labels: { ownedRecord: 'www.acme.example' },
    })
    const rows: readonly [what: string, change: object][] = [
      ['deleted without an owner', { delete: [old] }],
      ['deleted in part', { delete: [{ ...old, targets: ['192.0.2.1'] }] }],
      ['deleted by an owner', { delete: [{ ...old, ...own }] }],
      ['changed without an owner', { updateOld: [old], updateNew: [next] }],
      ['changed by an owner', { updateOld: [old], updateNew: [{ ...next, ...own }] }],
      ['changed without the old one', { updateNew: [next] }],
      ['taken by an ownership record', { create: [text('cluster-a')] }],
      ['taken and deleted at once', { create: [text('cluster-a')], delete: [{ ...old, ...own }] }],
    ]
    test.each(rows)('%s', async (_, change) => {
      const hand = { zone: acmeZone, name: 'www', type: 'A', values: ['192.0.2.1', '192.0.2.2'] }
      expect((await site.world.call(keyOf('acme'), 'POST', '/records', hand)).status).toBe(201)
      const head = site.head()
      const { status, error } = await site.model({ owner: '' }).apply({ ...none, ...change })
      expect([status, error]).toEqual([
        409,
        expect.stringContaining('www.acme.example has A records that no external-dns'),
      ])
      expect(site.head()).toBe(head)
    })

    test('members of a pool as well', async () => {
      const acme = keyOf('acme')
      const { body } = await site.world.call(acme, 'POST', '/pools', { name: 'hand' })
      const hand = { ipAddress: '203.0.113.1', port: 443, name: 'hand' }
      await site.world.call(acme, 'POST', `/pools/${body.id}/members`, hand)
      const service = { name: 'www', domain: 'www.acme.example.', poolId: body.id }
      const made = await site.world.call(acme, 'POST', '/services', service)
      const gone = { ...a('www.acme.example', '203.0.113.1'), setIdentifier: 'hand', ...own }
      expect(await site.model({ owner: '' }).apply({ ...none, delete: [gone] })).toMatchObject({
        status: 409,
      })
      expect(site.files()['pools/hand.yaml']).toContain('203.0.113.1')
      await site.world.call(acme, 'DELETE', `/services/${made.body.id}`)
      await site.world.call(acme, 'DELETE', `/pools/${body.id}`)
    })
  })

  test('targets that are not there any more are neither changed nor deleted', async () => {
    const cluster = site.model({ owner: 'cluster-a' })
    await cluster.sync([a('www.acme.example', '192.0.2.1', '192.0.2.2')])
    const head = site.head()
    const labels = { owner: 'cluster-a' }
    const old = { ...a('www.acme.example', '192.0.2.1'), labels }
    const updateNew = [{ ...a('www.acme.example', '192.0.2.9'), labels }]
    for (const change of [{ delete: [old] }, { updateOld: [old], updateNew }]) {
      const { status, error } = await cluster.apply({ ...none, ...change })
      expect([status, error]).toEqual([409, expect.stringContaining('192.0.2.1, 192.0.2.2')])
    }
    expect(site.head()).toBe(head)
    // A change whose answer was lost is sent again.
    const there = { ...old, targets: ['192.0.2.1', '192.0.2.2'] }
    const again = { ...none, updateOld: [there], updateNew }
    for (let i = 0; i < 2; i++) {
      expect(await cluster.apply(again)).toMatchObject({ status: 204, error: '' })
    }
    expect(site.files()['records/www.acme.example.yaml']).toContain('192.0.2.9')
  })

  test('the owner may be named by the ownership record of the request alone', async () => {
    const cluster = site.model({ owner: '' })
    const text = (owner: string): ModelEndpoint => ({
      ...{ dnsName: 'a-www.acme.example', recordType: 'TXT', setIdentifier: 'eu' },
      targets: [`"heritage=external-dns,external-dns/owner=${owner}"`],
    })
    const one = { ...a('www.acme.example', '192.0.2.1'), setIdentifier: 'eu' }
    const change = { ...none, create: [one, text('eu')] }
    expect(await cluster.apply(change)).toMatchObject({ status: 204, error: '' })
    const head = site.head()
    expect(await cluster.apply(change)).toMatchObject({ status: 204, error: '' })
    expect(site.head()).toBe(head)
    const other = { ...none, delete: [one, text('us')] }
    expect(await cluster.apply(other)).toMatchObject({ status: 409 })
    expect(await cluster.apply({ ...none, delete: [one, text('eu')] })).toMatchObject({
      status: 204,
    })
    expect(Object.keys(site.files())).toEqual([])
  })

  /** As people do, of names without their final dot. */
  const deleteByHand = async (...names: string[]): Promise<void> => {
    for (const { id, name } of (await site.world.call(keyOf('acme'), 'GET', '/records')).list) {
      if (!names.includes(String(name).slice(0, -1))) continue
      await site.world.call(keyOf('acme'), 'DELETE', `/records/${id}`)
    }
  }

  test.each([
    [17, 2],
    [19, 1],
    [21, 1],
  ])('0.%i makes a deleted record again with %i endpoints', async (minor, sent) => {
    const cluster = site.model({ owner: 'cluster-a', minor, prefix: '%{record_type}-' })
    const wanted = [a('www.acme.example', '192.0.2.1'), a('post.acme.example', '192.0.2.2')]
    await cluster.sync(wanted)
    await deleteByHand('www.acme.example')
    expect(await cluster.sync(wanted)).toMatchObject({ status: 204, error: '', sent })
    expect(await cluster.sync(wanted)).toMatchObject({ sent: 0 })
    expect(await cluster.sync([])).toMatchObject({ status: 204, error: '' })
    expect(Object.keys(site.files())).toEqual([])
  })

  test('0.19 may make a name without its ownership record, which is then for people', async () => {
    const cluster = site.model({ owner: 'cluster-a', minor: 19 })
    const wanted = [a('www.acme.example', '192.0.2.1')]
    await cluster.sync(wanted)
    expect(await cluster.sync(wanted)).toMatchObject({ sent: 0 })
    await deleteByHand('www.acme.example', 'a-www.acme.example')
    expect(await cluster.sync(wanted)).toMatchObject({ status: 204, error: '', sent: 1 })
    expect(await cluster.sync([])).toMatchObject({ sent: 0 })
    expect(Object.keys(site.files())).toEqual(['records/www.acme.example.yaml'])
  })

  test('an ownership record that says nothing takes no name from its owner', async () => {
    const cluster = site.model({ owner: 'cluster-a' })
    await cluster.sync([a('www.acme.example', '192.0.2.1')])
    const text = {
      ...{ dnsName: 'a-www.acme.example', recordType: 'TXT', targets: ['"secret"'] },
      labels: { ownedRecord: 'www.acme.example' },
    }
    for (const change of [{ delete: [text] }, { updateNew: [text] }, { create: [text] }]) {
      expect(await cluster.apply({ ...none, ...change })).toMatchObject({ status: 409 })
    }
    // The cluster may encrypt its records from now on, and change what it owns then.
    const labels = { owner: 'cluster-a' }
    const old = { ...a('www.acme.example', '192.0.2.1'), labels }
    const next = { ...a('www.acme.example', '192.0.2.2'), labels }
    const change = { ...none, updateOld: [old], updateNew: [next, text] }
    expect(await cluster.apply(change)).toMatchObject({ status: 204, error: '' })
    expect(await cluster.apply({ ...none, delete: [next, text] })).toMatchObject({ status: 204 })
    expect(Object.keys(site.files())).toEqual([])
  })

  test('a text of people beside an ownership record of the same name stays', async () => {
    const spf = { zone: acmeZone, name: 'www', type: 'TXT', values: ['"v=spf1 -all"'] }
    expect((await site.world.call(keyOf('acme'), 'POST', '/records', spf)).status).toBe(201)
    const cluster = site.model({ owner: 'cluster-a', minor: 16 })
    await cluster.sync([a('www.acme.example', '192.0.2.1')])
    await cluster.sync([])
    const [left, ...others] = (await site.world.call(keyOf('acme'), 'GET', '/records')).list
    expect([left, others]).toMatchObject([
      { name: 'www.acme.example.', values: ['"v=spf1 -all"'] },
      [],
    ])
  })
})

describe('refusals of the API', () => {
  test('a domain that nobody has verified gives no right', async () => {
    const domain = 'acme.customers.example'
    const { body } = await site.world.call(keyOf('acme'), 'POST', '/domains', { domain })
    const cluster = site.model({ owner: 'cluster-a' })
    const wanted = [a(`www.${domain}`, '192.0.2.1')]
    const refused = await cluster.sync(wanted)
    expect([refused.status, refused.error]).toEqual([409, expect.stringContaining('not verified')])
    site.verified.add(body.id)
    expect(await cluster.sync(wanted)).toMatchObject({ status: 204, error: '' })
    expect(await cluster.sync([])).toMatchObject({ status: 204, error: '' })
    await site.world.call(keyOf('acme'), 'DELETE', `/domains/${body.id}`)
  })

  test('a change that does not compile is refused whole, with what is wrong', async () => {
    const head = site.head()
    const { status, error } = await site
      .model({ owner: 'cluster-a' })
      .sync([
        a('fine.acme.example', '192.0.2.1'),
        a('both.acme.example', '192.0.2.1'),
        { dnsName: 'both.acme.example', recordType: 'CNAME', targets: ['lb.example.net'] },
      ])
    expect([status, error]).toEqual([409, expect.stringContaining('CNAME')])
    expect(site.head()).toBe(head)
  })
})

test('a cluster of many names is one commit, and is read back whole', async () => {
  const cluster = site.model({ owner: 'cluster-a' })
  const all = Array.from({ length: 100 }, (_, i) => a(`n${i}.acme.example`, `192.0.2.${i}`))
  const before = commits()
  expect(await cluster.sync(all)).toMatchObject({ status: 204, error: '', sent: 200 })
  expect(commits()).toBe(before + 1)
  const message = site.world.git('log', '-1', '--format=%B', 'main')
  expect(message).toContain('external-dns cluster-a: n0.acme.example and 99 more')
  expect(message).toContain('Gslb-Operation: create RecordSet: 200 of them')
  expect(await cluster.sync(all)).toMatchObject({ sent: 0 })
  const names = (await cluster.records()).map(({ dnsName }) => dnsName)
  expect(names).toHaveLength(200)
  expect(names).toEqual(names.toSorted((one, two) => (one < two ? -1 : 1)))
  expect(await cluster.sync([])).toMatchObject({ status: 204, error: '' })
})

test('changes that come at once are carried out one after the other', async () => {
  const clusters = ['a', 'b', 'c', 'd'].map((owner) => site.model({ owner }))
  const done = await Promise.all(
    clusters.map((one, i) => one.sync([a(`n${i}.acme.example`, `192.0.2.${i}`)])),
  )
  expect(done.map(({ status }) => status)).toEqual([204, 204, 204, 204])
  expect(Object.keys(site.files())).toHaveLength(8)
})

test('what does not compile is said with the name of its endpoint', async () => {
  const cluster = site.model({ owner: 'cluster-a' })
  const missing = {
    dnsName: 'post.acme.example',
    recordType: 'MX',
    targets: ['10 none.acme.example'],
  }
  const done = await cluster.sync([a('www.acme.example', '192.0.2.1'), missing])
  expect(done.status).toBe(400)
  expect(done.error).toMatch(
    /^post\.acme\.example \(MX\): .*none\.acme\.example\. has no addresses/,
  )
  expect(Object.keys(site.files())).toEqual([])
})
