// Routing state: what holds for every pair of configurations, one after the other.
import fc from 'fast-check'
import { expect, test } from 'vitest'
import { memberOctets, uidOf } from '#bundle/format/bundle.ts'
import type { Bundle } from '#bundle/format/bundle.ts'
import type { BundleModel } from '#bundle/format/model.ts'
import { Random } from '#lib/random.ts'
import {
  carryRoutingState,
  createRoutingState,
  isReady,
  rebuildPool,
} from '#routing/state/candidates.ts'
import type { RoutingState } from '#routing/state/state.ts'
import { plainByCode } from '#routing/choose/ways.ts'
import { Family } from '#routing/state/query.ts'
import { arbitraryModel, bundleOf } from '#test/support/bundle-models.ts'

/** The health of each member by pool, uid and address. */
function healthOf(bundle: Bundle, state: RoutingState): Map<string, number> {
  const rows = Array.from({ length: bundle.counts.members }, (_, row): [string, number] => {
    const pool = uidOf(bundle.poolUid, bundle.memberPool[row]!)
    const address = Buffer.from(memberOctets(bundle, row)).toString('hex')
    return [`${pool} ${uidOf(bundle.memberUid, row)} ${address}`, state.memberHealthy[row]!]
  })
  return new Map(rows)
}

function cursorsOf(bundle: Bundle, state: RoutingState): Map<string, readonly number[]> {
  const rows = Array.from(
    { length: bundle.counts.services },
    (_, row): [string, readonly number[]] => [
      uidOf(bundle.serviceUid, row),
      [state.serviceCursor[row * 2]!, state.serviceCursor[row * 2 + 1]!],
    ],
  )
  return new Map(rows)
}

/** A state in which some members are ill and cursors stand somewhere. */
function usedState(bundle: Bundle, ill: readonly number[]): RoutingState {
  const state = createRoutingState(bundle, 1)
  for (const row of ill) if (row < bundle.counts.members) state.memberHealthy[row] = 0
  state.serviceCursor.forEach((_, i) => (state.serviceCursor[i] = i * 7 + 1))
  for (let pool = 0; pool < bundle.counts.pools; pool++) rebuildPool(bundle, state, pool)
  return state
}

/** The second configuration shares pools, members and services with the first, as an edit does. */
const edited: fc.Arbitrary<readonly [BundleModel, BundleModel]> = fc
  .tuple(arbitraryModel, fc.infiniteStream(fc.nat(9)))
  .map(([model, dice]) => {
    const isKept = (): boolean => dice.next().value < 8
    const services = model.services.filter(isKept)
    const pools = model.pools.map((pool) => ({
      ...pool,
      members: pool.members
        .filter(isKept)
        .map((member) => (isKept() ? member : { ...member, ipAddress: '203.0.113.77' })),
    }))
    return [model, { ...model, pools, services }] as const
  })

test('health and cursors of what stays are carried over, all else is as new', () => {
  fc.assert(
    fc.property(edited, fc.array(fc.nat(20)), ([before, after], ill) => {
      const [old, next] = [bundleOf(before), bundleOf(after)]
      const oldState = usedState(old, ill)
      const [oldHealth, oldCursors] = [healthOf(old, oldState), cursorsOf(old, oldState)]
      const state = carryRoutingState({ bundle: old, state: oldState }, next, 2)
      for (const [key, healthy] of healthOf(next, state))
        expect(healthy).toBe(oldHealth.get(key) ?? 1)
      for (const [key, cursors] of cursorsOf(next, state)) {
        expect(cursors).toEqual(oldCursors.get(key) ?? [0, 0])
      }
      // The old state goes on serving until the last thread has left it.
      expect(healthOf(old, oldState)).toEqual(oldHealth)
    }),
  )
})

test('the lists of a carried state are those of a fresh one with the same health', () => {
  fc.assert(
    fc.property(edited, fc.array(fc.nat(20)), fc.nat(), ([before, after], ill, seed) => {
      const [old, next] = [bundleOf(before), bundleOf(after)]
      const carried = carryRoutingState({ bundle: old, state: usedState(old, ill) }, next, 2)
      const fresh = createRoutingState(next, 2)
      fresh.memberHealthy.set(carried.memberHealthy)
      fresh.serviceCursor.set(carried.serviceCursor)
      for (let pool = 0; pool < next.counts.pools; pool++) {
        rebuildPool(next, fresh, pool)
        for (const family of [Family.V4, Family.V6]) {
          const query = { serviceIndex: 0, poolIndex: pool, family }
          if (next.counts.services === 0) continue
          for (const plain of plainByCode) {
            if (plain === undefined) continue
            const picked = plain.select(carried, query, new Random(seed))
            expect(picked).toBe(plain.select(fresh, query, new Random(seed)))
            if (picked >= 0) expect(isReady(next, carried, picked)).toBe(true)
          }
        }
      }
    }),
  )
})
