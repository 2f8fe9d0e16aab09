import { describe, expect, test } from 'vitest'
import { carryRoutingState, createRoutingState, rebuildPool } from '#routing/state/candidates.ts'
import { explainPool } from '#routing/choose/explain.ts'
import { firstCandidate, MemberOut, PoolCell } from '#routing/state/state.ts'
import type { RoutingState } from '#routing/state/state.ts'
import { Family } from '#routing/state/query.ts'
import { bundleOf, member, pool, zone } from '../../../support/bundle-models.ts'

const withPool = (...given: Parameters<typeof pool>) =>
  bundleOf({ zones: [zone('test.')], pools: [pool(...given)] })

/** The members that may answer, by family. */
function lists(state: RoutingState): readonly number[][] {
  const copy = state.pools[PoolCell.Version]! & 1
  return [Family.V4, Family.V6].map((family) => {
    const first = firstCandidate(state, 0, copy, family)
    return [
      ...state.candidates.subarray(first, first + state.pools[PoolCell.Count + copy * 2 + family]!),
    ]
  })
}

/** Members 0 to 2 are IPv4, 3 is IPv6. */
const members = ['192.0.2.1', member('192.0.2.2', { weight: 5 }), '192.0.2.3', '2001:db8::1']

describe('out of rotation', () => {
  const bundle = withPool(1, members)
  const rows: readonly [out: number, standing: string][] = [
    [MemberOut.Warming, 'warming'],
    [MemberOut.Maintenance, 'maintenance'],
    [MemberOut.Warming | MemberOut.Maintenance, 'warming'],
  ]
  test.each(rows)('by the bits %i a healthy member is no candidate: %s', (out, standing) => {
    const state = createRoutingState(bundle, 1)
    state.memberOut[1] = out
    rebuildPool(bundle, state, 0)
    expect(lists(state)).toEqual([[0, 2], [3]])
    expect(explainPool(bundle, state, 0, Family.V4, true)[1]!.standing).toBe(standing)
  })
})

describe('the weight in effect', () => {
  const bundle = withPool(1, members)

  test('is the declared one until somebody writes another', () => {
    const state = createRoutingState(bundle, 1)
    expect([...state.memberWeight]).toEqual([1, 5, 1, 1])
    state.memberWeight[1] = 2
    state.memberWeight[2] = 0
    rebuildPool(bundle, state, 0)
    const first = firstCandidate(state, 0, state.pools[PoolCell.Version]! & 1, Family.V4)
    expect(lists(state)).toEqual([[0, 1, 2], [3]])
    expect([...state.weightSums.subarray(first, first + 3)]).toEqual([1, 3, 3])
    const standings = explainPool(bundle, state, 0, Family.V4, true)
    expect(standings.map(({ weight, standing }) => [weight, standing])).toEqual([
      [1, 'candidate'],
      [2, 'candidate'],
      [0, 'weight-0'],
    ])
  })
})

describe('a pool with minHealthy', () => {
  const rows: readonly [minHealthy: number, change: (s: RoutingState) => void, up: boolean][] = [
    [4, () => undefined, true],
    [5, () => undefined, false],
    [4, (state) => (state.memberHealthy[0] = 0), false],
    [3, (state) => (state.memberHealthy[0] = 0), true],
    [4, (state) => (state.memberHealthy[3] = 0), false],
    [4, (state) => (state.memberOut[0] = MemberOut.Warming), false],
    [4, (state) => (state.memberOut[0] = MemberOut.Maintenance), false],
    // Weight says how much a member gets, not whether it is up.
    [4, (state) => (state.memberWeight[0] = 0), true],
    [0, (state) => state.memberHealthy.fill(0, 0, 3), true],
  ]
  test.each(rows)('with %i counts both families: %s leaves it up: %s', (minHealthy, change, up) => {
    const bundle = withPool(1, members, { minHealthy })
    const state = createRoutingState(bundle, 1)
    change(state)
    rebuildPool(bundle, state, 0)
    expect(lists(state).flat().length > 0).toBe(up)
    const standing = explainPool(bundle, state, 0, Family.V4, true)[1]!.standing
    if (!up) expect(standing).toBe('below-min-healthy')
  })
})

describe('the state of the next bundle', () => {
  test('has what belongs to a member, and not what follows from bundle and clock', () => {
    const before = withPool(1, members)
    const state = createRoutingState(before, 1)
    state.memberScore[0] = 0.5
    state.memberRttMs[1] = 12.5
    state.memberOut.set([MemberOut.Warming, MemberOut.Maintenance, MemberOut.Warming, 0])
    state.memberWeight[3] = 9
    // One member less, the others in another order: rows move.
    const after = bundleOf({
      zones: [zone('test.')],
      pools: [pool(1, [], { members: [2, 1, 0].map((i) => pool(1, members).members[i]!) })],
    })
    const next = carryRoutingState({ bundle: before, state }, after, 2)
    expect([...next.memberScore]).toEqual([1, 1, 0.5])
    expect([...next.memberRttMs]).toEqual([0, 12.5, 0])
    expect([...next.memberOut]).toEqual([MemberOut.Warming, 0, MemberOut.Warming])
    expect([...next.memberWeight]).toEqual([1, 5, 1])
    expect(lists(next)).toEqual([[1], []])
  })
})
