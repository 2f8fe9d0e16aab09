import { describe, expect, test } from 'vitest'
import type { BundleModel, MemberModel } from '#bundle/format/model.ts'
import { Random } from '#lib/random.ts'
import { carryRoutingState, createRoutingState, rebuildPool } from '#routing/state/candidates.ts'
import { algorithmNamed } from '#routing/choose/ways.ts'
import { Family } from '#routing/state/query.ts'
import {
  bareModel,
  bundleOf,
  member,
  pool,
  service,
  uid,
  zone,
} from '../../../support/bundle-models.ts'

function model(parts: Partial<BundleModel>): BundleModel {
  return { ...bareModel, zones: [zone('test.')], pools: [], services: [], ...parts }
}

function serving(members: readonly (string | MemberModel)[], domains = ['a.test.']) {
  const services = domains.map((domain, i) => service(i + 1, domain))
  const bundle = bundleOf(model({ pools: [pool(1, members)], services }))
  return { bundle, state: createRoutingState(bundle, 1) }
}

/** The next `count` picks of an algorithm. */
function picks(
  { state }: Pick<ReturnType<typeof serving>, 'state'>,
  name: string,
  count: number,
  serviceIndex = 0,
): number[] {
  const plain = algorithmNamed(name)!.plain!
  const random = new Random(1)
  const query = { serviceIndex, poolIndex: 0, family: Family.V4 }
  return Array.from({ length: count }, () => plain.select(state, query, random))
}

describe('round robin', () => {
  test('goes through the members in the order of the file', () => {
    expect(picks(serving(['192.0.2.3', '192.0.2.1', '192.0.2.2']), 'round-robin', 4)).toEqual([
      0, 1, 2, 0,
    ])
  })

  test('goes through the better scores first', () => {
    const { bundle, state } = serving(['192.0.2.1', '192.0.2.2', '192.0.2.3'])
    state.memberScore.set([0.5, 1, 0.5])
    rebuildPool(bundle, state, 0)
    expect(picks({ state }, 'round-robin', 3)).toEqual([1, 0, 2])
  })

  test('gives each service a rotation of its own', () => {
    const both = serving(['192.0.2.1', '192.0.2.2'], ['a.test.', 'b.test.'])
    expect(picks(both, 'round-robin', 1, 0)).toEqual([0])
    expect(picks(both, 'round-robin', 1, 1)).toEqual([0])
    expect(picks(both, 'round-robin', 1, 0)).toEqual([1])
  })
})

describe('failover', () => {
  const withPriorities = (...priorities: number[]) =>
    serving(priorities.map((priority, i) => member(`192.0.2.${i}`, { priority })))
  const rows: readonly [priorities: number[], unhealthy: number[], expected: number][] = [
    [[1, 2, 3], [], 0],
    [[3, 2, 1], [], 2],
    [[1, 2, 3], [0], 1],
    [[1, 2, 3], [0, 1], 2],
    [[1, 2, 3], [0, 1, 2], -1],
    [[0, 2, 3], [], 1],
    [[0, 2, 3], [1, 2], 0],
    [[0, 0], [], 0],
    [[2, 2], [], 0],
    [[1_000_000, 0], [], 0],
  ]
  test.each(rows)(
    'with priorities %j and %j unhealthy takes %i',
    (priorities, unhealthy, expected) => {
      const { bundle, state } = withPriorities(...priorities)
      for (const one of unhealthy) state.memberHealthy[one] = 0
      rebuildPool(bundle, state, 0)
      expect(picks({ state }, 'failover', 1)).toEqual([expected])
    },
  )

  test('comes back to the preferred member when it is well', () => {
    const { bundle, state } = withPriorities(1, 2)
    state.memberHealthy[0] = 0
    rebuildPool(bundle, state, 0)
    state.memberHealthy[0] = 1
    rebuildPool(bundle, state, 0)
    expect(picks({ state }, 'failover', 2)).toEqual([0, 0])
  })
})

describe('the state of the next bundle', () => {
  const before = serving(['192.0.2.1', '192.0.2.2'])
  before.state.memberHealthy[0] = 0
  before.state.memberScore[1] = 0.25
  rebuildPool(before.bundle, before.state, 0)
  const uidOfFirst = uid(0x10001)

  const rows: readonly [
    title: string,
    members: readonly (string | MemberModel)[],
    healthy: number[],
  ][] = [
    ['keeps the health of a member that stays', ['192.0.2.1', '192.0.2.2'], [0, 1]],
    [
      'keeps it where weight, port and place change',
      [
        member('192.0.2.9', { uid: uid(9) }),
        member('192.0.2.1', { uid: uidOfFirst, weight: 5, port: 1 }),
      ],
      [1, 0],
    ],
    ['forgets it when the address changes', ['192.0.2.7', '192.0.2.2'], [1, 1]],
    ['forgets it when another member has the address', [member('192.0.2.1', { uid: uid(9) })], [1]],
    ['takes IPv6 for another address', [member('::192.0.2.1', { uid: uidOfFirst })], [1]],
  ]
  test.each(rows)('%s', (_title, members, healthy) => {
    const { bundle } = serving(members)
    const state = carryRoutingState(before, bundle, 2)
    expect([...state.memberHealthy]).toEqual(healthy)
    expect(state.soaSerial[0]).toBe(2)
  })

  test('keeps scores, and lists them', () => {
    const state = carryRoutingState(
      before,
      serving(['192.0.2.1', '192.0.2.2', '192.0.2.3']).bundle,
      2,
    )
    expect([...state.memberScore]).toEqual([1, 0.25, 1])
    expect(picks({ state }, 'round-robin', 2)).toEqual([2, 1])
  })

  test('does not know a pool that went and came back', () => {
    const without = bundleOf(model({ services: [service(1, 'a.test.', { pool: -1 })] }))
    const between = { bundle: without, state: carryRoutingState(before, without, 2) }
    const again = carryRoutingState(between, before.bundle, 3)
    expect([...again.memberHealthy]).toEqual([1, 1])
  })

  test('goes on with the same cursors while the services stay', () => {
    const old = serving(['192.0.2.1', '192.0.2.2', '192.0.2.3'])
    picks(old, 'round-robin', 1)
    const state = carryRoutingState(old, serving(['192.0.2.1', '192.0.2.2', '192.0.2.4']).bundle, 2)
    expect(picks({ state }, 'round-robin', 1)).toEqual([1])
    // An answer by a thread that has not swapped yet counts, too.
    expect(picks(old, 'round-robin', 1)).toEqual([2])
    expect(picks({ state }, 'round-robin', 1)).toEqual([0])
  })

  test('takes the cursors of the services that stay when others come and go', () => {
    const old = serving(['192.0.2.1', '192.0.2.2'], ['a.test.', 'b.test.'])
    picks(old, 'round-robin', 1, 1)
    const services = [service(0, 'new.test.'), service(2, 'renamed.test.')]
    const bundle = bundleOf(model({ pools: [pool(1, ['192.0.2.1', '192.0.2.2'])], services }))
    const state = carryRoutingState(old, bundle, 2)
    expect(picks({ state }, 'round-robin', 1, 0)).toEqual([0])
    expect(picks({ state }, 'round-robin', 1, 1)).toEqual([1])
  })
})
