import { expect, test } from 'vitest'
import { unknownStatus } from '#gitops/status/status.ts'
import type { GitopsStatus } from '#gitops/status/status.ts'
import {
  createAlertFacts,
  downMembersIn,
  emptyPoolsIn,
  flappingIn,
} from '#node/status/alert-facts.ts'
import type { AlertFactsParts } from '#node/status/alert-facts.ts'
import { faultOfDisk } from '#process/data/disk-use.ts'
import { createRoutingState } from '#routing/state/candidates.ts'
import { alertLimits } from '#state/ports/alerts.ts'
import { FakeTime } from '#test/support/fake-time.ts'
import { bundleOf, member, pool, service, uid, zone } from '#test/support/bundle-models.ts'

const zones = [zone('example.org.')]

test('an empty pool is told of once, if a service answers from it', () => {
  const pools = [
    pool(1, ['192.0.2.1']),
    pool(2, [member('192.0.2.2', { enabled: false })]),
    pool(3, []),
    pool(4, []),
    pool(
      5,
      ['web.example.net.', 'db.example.net.'].map((hostname) => member('', { hostname })),
    ),
  ]
  const services = [0, 1, 1, 2, 4].map((at, i) => service(i, `w${i}.example.org.`, { pool: at }))
  const bundle = bundleOf({ zones, pools, services })
  const found = emptyPoolsIn(bundle, createRoutingState(bundle, 1))
  const all = { tenant: 'default' }
  expect(found.toSorted((a, b) => (a.name < b.name ? -1 : 1))).toEqual([
    { ...all, uid: uid(0x1002), name: 'pool-2', members: 1 },
    { ...all, uid: uid(0x1003), name: 'pool-3', members: 0 },
    // Not the addresses that a host name may have.
    { ...all, uid: uid(0x1005), name: 'pool-5', members: 2 },
  ])
})

test('a pool of members that weigh nothing is empty where a service goes by weight', () => {
  const pools = [1, 2, 3].map((at) => pool(at, [member(`192.0.2.${at}`, { weight: 0 })]))
  const ways = [{}, { algorithm: 'weighted-round-robin' }, { filterChain: ['sticky-weighted'] }]
  const services = ways.map((way, i) => service(i, `w${i}.example.org.`, { pool: i, ...way }))
  const bundle = bundleOf({ zones, pools, services })
  const found = emptyPoolsIn(bundle, createRoutingState(bundle, 1))
  expect(found.map(({ name }) => name).toSorted()).toEqual(['pool-2', 'pool-3'])
})

test('more empty pools than alerts can have are counted, not all named', () => {
  const { findingsPerNodeMax } = alertLimits
  const count = findingsPerNodeMax + 20
  const pools = Array.from({ length: count }, (_, i) => pool(i, []))
  const services = pools.map((_, i) => service(i, `w${i}.example.org.`, { pool: i }))
  const bundle = bundleOf({ zones, pools, services })
  expect(emptyPoolsIn(bundle, createRoutingState(bundle, 1))).toHaveLength(findingsPerNodeMax + 1)
})

test('a tenant with more than alerts can have hides nothing of another one', () => {
  const count = alertLimits.findingsPerNodeMax + 20
  const many = (tenant: string, at: number) => ({ ...pool(at, [`192.0.2.1`]), tenant })
  const pools = [...Array.from({ length: count }, (_, i) => many('a', i)), many('z', count)]
  const services = pools.map((_, i) => service(i, `w${i}.example.org.`, { pool: i }))
  const bundle = bundleOf({ zones, pools, services })
  const state = createRoutingState(bundle, 1)
  state.memberHealthy.fill(0)
  const flaps = pools.map(({ members: [one] }) => ({ uid: one!.uid, address: '', changes: 7 }))
  const down = downMembersIn(bundle, state)
  for (const found of [down, flappingIn(bundle, flaps)]) {
    expect(found).toHaveLength(alertLimits.findingsPerNodeMax + 1)
    expect(found.filter(({ tenant }) => tenant === 'z')).toHaveLength(1)
  }
  state.pools.fill(0)
  const empty = emptyPoolsIn(bundle, state)
  expect(empty.filter(({ tenant }) => tenant === 'z')).toHaveLength(1)
})

test('a flapping member is found by its whole uid; one that is gone is nobody', () => {
  const known = '0190aaaa-0000-7000-8000-000000000001'
  const sameEnd = '0190bbbb-0000-7000-8000-000000000001'
  const gone = '0190cccc-0000-7000-8000-000000000001'
  const pools = [
    pool(1, [member('192.0.2.1', { uid: sameEnd })]),
    pool(2, [member('192.0.2.2', { uid: known })]),
  ]
  const bundle = bundleOf({ zones, pools })
  const flapping = [known, gone].map((one) => ({ uid: one, address: '192.0.2.2', changes: 7 }))
  expect(flappingIn(bundle, flapping)).toEqual([
    expect.objectContaining({ uid: known, pool: 'pool-2', tenant: 'default', changes: 7 }),
  ])
  expect(flappingIn(undefined, flapping)).toEqual([])
})

function factsWith(parts: object) {
  const rest = { health: null, clock: new FakeTime(0).clock }
  return createAlertFacts({ ...rest, ...parts } as unknown as AlertFactsParts)
}

test('a commit that is held stays so while the repository is away, or is being read', () => {
  const code = 'Unsigned'
  let status: Partial<GitopsStatus> = { sync: 'held', code, reason: 'It has no signature.' }
  const facts = factsWith({ gitops: { status: () => ({ ...unknownStatus, ...status }) } })
  const held = { code, reason: 'It has no signature.' }
  expect(facts.held()).toEqual(held)
  status = { sync: 'unreachable', code: 'Timeout', reason: 'It did not answer in time.' }
  expect(facts.held()).toEqual(held)
  status = { sync: 'pending' }
  expect(facts.held()).toEqual(held)
  status = { sync: 'synced' }
  expect(facts.held()).toBeNull()
  status = { sync: 'unreachable', code: 'Timeout', reason: 'It did not answer in time.' }
  expect(facts.held()).toBeNull()
})

test('the operator is told why the repository is away, and the rest as the health says it', () => {
  let status = { ...unknownStatus, code: 'HostKeyRefused', reason: 'Its key is another one.' }
  const facts = factsWith({
    gitops: { status: () => status },
    reasons: () => [
      { code: 'git-unreachable', message: 'The status says why.' },
      { code: 'redis-away', message: 'Redis is away.' },
    ],
  })
  expect(facts.reasons()).toEqual([
    { code: 'git-unreachable', message: 'HostKeyRefused: Its key is another one.' },
    { code: 'redis-away', message: 'Redis is away.' },
  ])
  status = { ...status, code: 'DiskFull' }
  expect(facts.reasons().map(({ code }) => code)).toEqual(['redis-away'])
})

test('a disk that takes no change of the repository is full, as one that is not ours', () => {
  const git = (code: string) => ({ code, reason: 'Make room.' })
  expect(faultOfDisk(null, git(''))).toBeNull()
  expect(faultOfDisk(null, git('Timeout'))).toBeNull()
  expect(faultOfDisk(null, git('DiskFull'))).toBe('Make room.')
  expect(faultOfDisk('It is read-only.', git('DiskFull'))).toBe('It is read-only.')
})

test('what nodes that pull say of themselves is told, also while they are silent', () => {
  const one = (name: string, isCounted: boolean, ...reasons: string[]) => ({
    report: { name, role: name === 'c1' ? 'control' : 'dns', reasons },
    ...{ isCounted, isMissing: name === 'd2' },
  })
  const nodes = [
    one('c1', true, 'redis-away'),
    one('d1', true, 'bundle-refused', 'tls-certificate'),
    one('d2', true, 'no-source'),
    one('stranger', false, 'no-source'),
    { report: { name: 'old', role: 'dns' }, isCounted: true, isMissing: false },
  ]
  let active: object | null = {}
  const facts = factsWith({ drifted: () => nodes, node: { status: () => ({ active }) } })
  expect(facts.degradedNodes()).toEqual([
    { node: 'd1', code: 'tls-certificate' },
    { node: 'd2', code: 'no-source' },
  ])
  // There is no configuration yet: nobody can have a bundle.
  active = null
  expect(facts.degradedNodes()).toEqual([])
})
