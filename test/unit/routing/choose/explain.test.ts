import { describe, expect, test } from 'vitest'
import { createRoutingState, rebuildPool } from '#routing/state/candidates.ts'
import {
  drawMany,
  explainPool,
  healthNow,
  memberNames,
  setHealth,
} from '#routing/choose/explain.ts'
import { ways } from '#routing/choose/ways.ts'
import { Family } from '#routing/state/query.ts'
import { MemberOut } from '#routing/state/state.ts'
import { bundleOf, member, pool, service, zone } from '../../../support/bundle-models.ts'

const bundle = bundleOf({
  zones: [zone('test.')],
  pools: [
    pool(1, [
      member('192.0.2.1', { name: 'a', priority: 2 }),
      member('192.0.2.2', { enabled: false, weight: 0 }),
      member('192.0.2.3', { weight: 0 }),
      member('2001:db8::1', { weight: 7 }),
      '192.0.2.4',
    ]),
    pool(2, ['192.0.2.4'], { name: 'pool-1', tenant: 'acme' }),
  ],
  services: [service(1, 'a.test.')],
})
const newState = () => createRoutingState(bundle, 1)

test('each member of the family is a candidate or has the first reason why not', () => {
  const state = newState()
  expect(
    setHealth(bundle, state, new Map([['default/pool-1/192.0.2.4', { healthy: false }]])),
  ).toEqual([])
  const standings = explainPool(bundle, state, 0, Family.V4, true).map((one) => [
    one.ipAddress,
    one.standing,
  ])
  expect(standings).toEqual([
    ['192.0.2.1', 'candidate'],
    ['192.0.2.2', 'disabled'],
    ['192.0.2.3', 'weight-0'],
    ['192.0.2.4', 'unhealthy'],
  ])
  // Where weights do not count.
  expect(explainPool(bundle, state, 0, Family.V4, false)[2]!.standing).toBe('candidate')
  expect(explainPool(bundle, state, 0, Family.V6, true)).toEqual([
    {
      index: 4,
      name: '',
      ipAddress: '2001:db8::1',
      region: 'unknown',
      weight: 7,
      priority: 0,
      score: 1,
      rttMs: 0,
      standing: 'candidate',
    },
  ])
})

describe('health by name', () => {
  test('is told as answers count it: who has not warmed up is not healthy', () => {
    const state = newState()
    state.memberOut[0] = MemberOut.Warming
    state.memberOut[2] = MemberOut.Maintenance
    state.memberHealthy[3] = 0
    const told = [...healthNow(bundle, state)].map(([name, { healthy }]) => [name, healthy])
    expect(told).toEqual([
      ['default/pool-1/192.0.2.1', false],
      ['default/pool-1/192.0.2.2', true],
      ['default/pool-1/192.0.2.3', true],
      ['default/pool-1/192.0.2.4', false],
      ['default/pool-1/2001:db8::1', true],
      ['acme/pool-1/192.0.2.4', true],
    ])
  })

  test('reaches the pools of that name of all tenants, or of one', () => {
    const state = newState()
    setHealth(bundle, state, new Map([['pool-1/192.0.2.4', { healthy: false }]]))
    expect([...state.memberHealthy]).toEqual([1, 1, 1, 0, 1, 0])
    setHealth(bundle, state, new Map([['acme/pool-1/192.0.2.4', { healthy: true }]]))
    expect([...state.memberHealthy]).toEqual([1, 1, 1, 0, 1, 1])
  })

  test('says which names nobody has', () => {
    expect(
      setHealth(bundle, newState(), new Map([['pool-1/192.0.2.99', { healthy: false }]])),
    ).toEqual(['pool-1/192.0.2.99'])
    expect(memberNames(bundle, 5)).toEqual(['pool-1/192.0.2.4', 'acme/pool-1/192.0.2.4'])
  })
})

describe('many draws', () => {
  const query = { serviceIndex: 0, poolIndex: 0, family: Family.V4 }
  test.each(ways.flatMap(({ name, plain }) => (plain ? [[name, plain] as const] : [])))(
    'by %s add up, are equal for equal seeds, and are empty without candidates',
    (_name, plain) => {
      const one = drawMany(newState(), plain, query, 5, 1_000)
      expect([...one.values()].reduce((sum, count) => sum + count)).toBe(1_000)
      expect(drawMany(newState(), plain, query, 5, 1_000)).toEqual(one)
      const state = newState()
      state.memberHealthy.fill(0)
      rebuildPool(bundle, state, 0)
      expect(drawMany(state, plain, query, 5, 1_000).size).toBe(0)
    },
  )
})
