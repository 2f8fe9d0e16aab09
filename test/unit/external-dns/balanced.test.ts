// Clusters that share a name: their targets are members of one pool, each with its own weight.
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { parse } from 'yaml'
import { keyOf } from '#test/support/config-world.ts'
import type { ModelEndpoint } from '#test/support/external-dns.ts'
import { startExternalDnsWorld } from '#test/support/external-dns-world.ts'
import type { ExternalDnsWorld } from '#test/support/external-dns-world.ts'

let site: ExternalDnsWorld
beforeAll(async () => {
  site = await startExternalDnsWorld()
})
afterAll(() => site.close())
beforeEach(async () => {
  for (const path of ['/services', '/pools', '/records']) {
    for (const { id } of (await site.world.call(keyOf('acme'), 'GET', path)).list) {
      await site.world.call(keyOf('acme'), 'DELETE', `${path}/${id}`)
    }
  }
  expect(Object.keys(site.files())).toEqual([])
})

type Properties = Readonly<Record<string, string>>

function of(
  cluster: string,
  targets: readonly string[],
  properties: Properties = {},
): ModelEndpoint {
  const listed = Object.entries(properties).map(([name, value]) => ({ name, value }))
  return {
    ...{ dnsName: 'www.acme.example', recordType: 'A', targets, setIdentifier: cluster },
    ...(listed.length === 0 ? {} : { providerSpecific: listed }),
  }
}

const clusterOf = (owner: string) => site.model({ owner })
const specIn = (path: string): unknown =>
  (parse(site.files()[path] ?? '') as { readonly spec: unknown }).spec
const pool = 'pools/www.acme.example.yaml'
const service = 'services/www.acme.example.yaml'
const check = '{"type":"http","port":8080,"httpPath":"/healthz"}'

test('the first makes pool and service, the second adds members, each goes alone', async () => {
  const [first, second] = [clusterOf('cluster-a'), clusterOf('cluster-b')]
  const a = of('a', ['192.0.2.1', '192.0.2.2'], { 'webhook/gslbd-health-check': check })
  const b = of('b', ['198.51.100.1'], { 'webhook/gslbd-weight': '3' })
  expect(await first.sync([a])).toMatchObject({ status: 204, error: '', sent: 2 })
  expect(await second.sync([b])).toMatchObject({ status: 204, error: '', sent: 2 })
  expect(specIn(pool)).toEqual({
    members: [
      { name: 'a', ipAddress: '192.0.2.1', port: 443, uid: expect.any(String) as string },
      { name: 'a', ipAddress: '192.0.2.2', port: 443, uid: expect.any(String) as string },
      {
        name: 'b',
        ipAddress: '198.51.100.1',
        port: 443,
        weight: 3,
        uid: expect.any(String) as string,
      },
    ],
    healthCheck: { type: 'http', port: 8080, httpPath: '/healthz' },
  })
  expect(specIn(service)).toEqual({
    domain: 'www.acme.example.',
    algorithm: 'weighted-round-robin',
    pool: 'www.acme.example',
  })
  for (const [cluster, wanted] of [[first, a] as const, [second, b] as const]) {
    expect(await cluster.sync([wanted])).toMatchObject({ sent: 0 })
  }
  expect(await first.sync([])).toMatchObject({ status: 204, error: '' })
  expect(specIn(pool)).toMatchObject({ members: [{ name: 'b', weight: 3 }] })
  expect(await second.sync([b])).toMatchObject({ sent: 0 })
  expect(await second.sync([])).toMatchObject({ status: 204, error: '' })
  expect(Object.keys(site.files())).toEqual([])
})

test('targets and weights change member by member', async () => {
  const cluster = clusterOf('cluster-a')
  await cluster.sync([of('a', ['192.0.2.1', '192.0.2.2'])])
  const before = specIn(pool) as { readonly members: readonly { readonly uid: string }[] }
  const next = of('a', ['192.0.2.2', '192.0.2.3'], { 'gslbd/weight': '7' })
  expect(await cluster.sync([next])).toMatchObject({ status: 204, error: '' })
  expect(specIn(pool)).toEqual({
    members: [
      { ...before.members[1], weight: 7 },
      expect.objectContaining({ name: 'a', ipAddress: '192.0.2.3', weight: 7 }),
    ],
  })
  expect(await cluster.sync([next])).toMatchObject({ sent: 0 })
})

test('addresses of both families and host names are members of one pool', async () => {
  const cluster = clusterOf('cluster-a')
  const wanted = [
    of('a', ['192.0.2.1']),
    { ...of('a', ['2001:db8::1']), recordType: 'AAAA' },
    { ...of('a', ['lb.example.net']), recordType: 'CNAME', setIdentifier: 'elb' },
  ]
  expect(await cluster.sync(wanted)).toMatchObject({ status: 204, error: '' })
  expect(specIn(pool)).toMatchObject({
    members: [
      { name: 'a', ipAddress: '192.0.2.1' },
      { name: 'a', ipAddress: '2001:db8::1' },
      { name: 'elb', hostname: 'lb.example.net.' },
    ],
  })
  expect(await cluster.sync(wanted)).toMatchObject({ sent: 0 })
})

test('with regions clients go to their own first', async () => {
  await clusterOf('cluster-a').sync([of('a', ['192.0.2.1'])])
  expect(specIn(service)).toMatchObject({ algorithm: 'weighted-round-robin' })
  const b = of('b', ['192.0.2.2'], { 'gslbd/region': 'continent:EU' })
  expect(await clusterOf('cluster-b').sync([b])).toMatchObject({ status: 204, error: '' })
  expect(specIn(service)).toMatchObject({ filterChain: ['geo-ip', 'weighted-round-robin'] })
  expect(specIn(pool)).toMatchObject({ members: [{ name: 'a' }, { region: 'continent:EU' }] })
  expect(await clusterOf('cluster-b').sync([b])).toMatchObject({ sent: 0 })
})

describe('a property of the whole name', () => {
  test('is as one cluster says, while it is alone', async () => {
    const cluster = clusterOf('cluster-a')
    const first = { ...of('a', ['192.0.2.1'], { 'gslbd/health-check': check }), recordTTL: 30 }
    await cluster.sync([first])
    const other = check.replace('/healthz', '/ready')
    const next = { ...of('a', ['192.0.2.1'], { 'gslbd/health-check': other }), recordTTL: 20 }
    expect(await cluster.sync([next])).toMatchObject({ status: 204, error: '' })
    expect(specIn(pool)).toMatchObject({ healthCheck: { httpPath: '/ready' } })
    expect(specIn(service)).toMatchObject({ ttl: 20 })
    // Left out it stays, and `none` takes it away.
    expect(await cluster.sync([of('a', ['192.0.2.1'])])).toMatchObject({ sent: 0 })
    const none = of('a', ['192.0.2.1'], { 'gslbd/health-check': 'none' })
    expect(await cluster.sync([none])).toMatchObject({ status: 204, error: '' })
    expect(specIn(pool)).not.toHaveProperty('healthCheck')
  })

  test('stays as it is while others share it, and nobody changes it back and forth', async () => {
    const [first, second] = [clusterOf('cluster-a'), clusterOf('cluster-b')]
    const a = { ...of('a', ['192.0.2.1'], { 'gslbd/health-check': check }), recordTTL: 30 }
    const b = {
      ...of('b', ['192.0.2.2'], { 'gslbd/health-check': 'none', 'gslbd/pool': 'another' }),
      recordTTL: 10,
    }
    await first.sync([a])
    expect(await second.sync([b])).toMatchObject({ status: 204, error: '' })
    for (const cluster of [first, second]) {
      expect(await cluster.sync([cluster === first ? a : b])).toMatchObject({ sent: 0 })
    }
    expect(specIn(service)).toMatchObject({ ttl: 30, pool: 'www.acme.example' })
    expect(specIn(pool)).toMatchObject({ healthCheck: { httpPath: '/healthz' } })
  })
})

describe('a name that is something else', () => {
  test('plain records of another cluster are not balanced until it names a set, too', async () => {
    const [first, second] = [clusterOf('cluster-a'), clusterOf('cluster-b')]
    const plain = { dnsName: 'www.acme.example', recordType: 'A', targets: ['192.0.2.1'] }
    await first.sync([plain])
    const refused = await second.sync([of('b', ['192.0.2.2'])])
    expect([refused.status, refused.error]).toEqual([
      409,
      expect.stringContaining('has A records beside which it cannot be balanced'),
    ])
    expect(await first.sync([of('a', ['192.0.2.1'])])).toMatchObject({ status: 204, error: '' })
    expect(await second.sync([of('b', ['192.0.2.2'])])).toMatchObject({ status: 204, error: '' })
    expect(specIn(pool)).toMatchObject({ members: [{ name: 'a' }, { name: 'b' }] })
  })

  test('the set identifier of another cluster is its own', async () => {
    await clusterOf('cluster-a').sync([of('a', ['192.0.2.1'])])
    const cluster = clusterOf('cluster-b')
    expect(await cluster.sync([of('a', ['192.0.2.9'])])).toMatchObject({ sent: 0 })
    const create = [{ ...of('a', ['192.0.2.9']), labels: { owner: 'cluster-b' } }]
    const refused = await cluster.apply({ create, updateOld: [], updateNew: [], delete: [] })
    expect([refused.status, refused.error]).toEqual([
      409,
      expect.stringContaining('with the set identifier "a" belongs to the external-dns'),
    ])
  })

  test('one address of two clusters is one member, and both are named', async () => {
    await clusterOf('cluster-a').sync([of('a', ['192.0.2.1'])])
    const second = clusterOf('cluster-b')
    const clash = await second.sync([of('b', ['192.0.2.1'])])
    expect([clash.status, clash.error]).toEqual([
      409,
      'www.acme.example is given 192.0.2.1 port 443 twice, by the set identifiers "a" and "b": ' +
        'one address is one member. Let one cluster alone give it (in a move, take it out of ' +
        'the old one first), or tell them apart by gslbd/port',
    ])
    // Another port is another member, and one that goes in the same change makes room.
    const apart = of('b', ['192.0.2.1'], { 'gslbd/port': '8443' })
    expect(await second.sync([apart])).toMatchObject({ status: 204, error: '' })
    expect(await second.sync([of('b', ['192.0.2.1'])])).toMatchObject({ status: 409 })
    await second.sync([])
    const moved = clusterOf('cluster-a')
    expect(await moved.sync([of('c', ['192.0.2.1'])])).toMatchObject({ status: 204, error: '' })
    expect(specIn(pool)).toMatchObject({ members: [{ name: 'c' }] })
  })

  test('a pool that answers for another name is not written', async () => {
    const cluster = clusterOf('cluster-a')
    await cluster.sync([of('a', ['192.0.2.1'], { 'gslbd/pool': 'shop' })])
    const other = { ...of('a', ['192.0.2.1'], { 'gslbd/pool': 'shop' }), dnsName: 'x.acme.example' }
    const refused = await cluster.sync([of('a', ['192.0.2.1'], { 'gslbd/pool': 'shop' }), other])
    expect([refused.status, refused.error]).toEqual([
      409,
      expect.stringContaining('the pool "shop" of x.acme.example answers for www.acme.example'),
    ])
  })

  test('a service that people have made takes the members of a cluster beside theirs', async () => {
    const acme = keyOf('acme')
    const made = await site.world.call(acme, 'POST', '/pools', { name: 'hand' })
    const member = { ipAddress: '203.0.113.1', port: 443, name: 'hand' }
    await site.world.call(acme, 'POST', `/pools/${made.body.id}/members`, member)
    const own = { name: 'www', domain: 'www.acme.example.', poolId: made.body.id }
    expect((await site.world.call(acme, 'POST', '/services', own)).status).toBe(201)
    const cluster = clusterOf('cluster-a')
    expect(await cluster.sync([of('a', ['192.0.2.1'])])).toMatchObject({ status: 204, error: '' })
    expect(specIn('pools/hand.yaml')).toMatchObject({ members: [{ name: 'hand' }, { name: 'a' }] })
    expect(await cluster.sync([])).toMatchObject({ status: 204, error: '' })
    expect(specIn('pools/hand.yaml')).toMatchObject({ members: [{ name: 'hand' }] })
  })

  test('a property makes a pool without any set identifier', async () => {
    const { setIdentifier: _, ...wanted } = of('', ['192.0.2.1'], { 'gslbd/health-check': check })
    const cluster = clusterOf('cluster-a')
    expect(await cluster.sync([wanted])).toMatchObject({ status: 204, error: '' })
    expect(specIn(pool)).toMatchObject({ members: [{ ipAddress: '192.0.2.1' }] })
    expect(await cluster.sync([wanted])).toMatchObject({ sent: 0 })
  })
})
