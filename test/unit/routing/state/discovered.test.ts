// Discovered members in a bundle and in its routing state: places, shares, and how many are ready.
import { expect, test } from 'vitest'
import { discoveredLimits } from '#bundle/discovered/from.ts'
import { hostnameOfMember, partsAround, rowsOfMember, slotCount } from '#bundle/format/hostnames.ts'
import type { PoolModel } from '#bundle/format/model.ts'
import {
  createRoutingState,
  isReady,
  readyMembers,
  rebuildPool,
} from '#routing/state/candidates.ts'
import { addressNow, fillSlots, resolvedHostnames } from '#routing/state/slots.ts'
import type { SlotAddresses } from '#routing/state/slots.ts'
import { bundleOf, member, pool, zone } from '#test/support/bundle-models.ts'

const slots = discoveredLimits.slots

function setUp(members: PoolModel['members'], parts: Partial<PoolModel> = {}) {
  const bundle = bundleOf({ zones: [zone('test.')], pools: [pool(1, members, parts)] })
  const state = createRoutingState(bundle, 1)
  return {
    ...{ bundle, state },
    fill: (name: string, found: SlotAddresses) => {
      for (const [row, hostname] of resolvedHostnames(bundle).entries()) {
        if (hostname === name) fillSlots(bundle, state, row, found)
      }
      rebuildPool(bundle, state, 0)
    },
    shares: () =>
      Object.fromEntries(
        [...state.memberShare.keys()]
          .filter((row) => isReady(bundle, state, row))
          .map((row) => [addressNow(bundle, state, row), state.memberShare[row]!]),
      ),
  }
}

const addresses = (count: number): string[] =>
  Array.from({ length: count }, (_, i) => `192.0.2.${i + 1}`)

test('a discovered member has 64 places of each family, in parts beside each other', () => {
  const { bundle } = setUp([
    member('', { hostname: 'lb.example.net.' }),
    member('', { hostname: 'from:consul/shop?region=eu' }),
    member('', { hostname: 'from:consul/shop?region=eu', port: 8443 }),
    member('192.0.2.99'),
  ])
  expect(slotCount(bundle)).toBe(16 + 2 * slots * 2)
  const rows = [...bundle.memberFlags.keys()]
  const own = rows.filter((row) => hostnameOfMember(bundle, row) === 'from:consul/shop?region=eu')
  expect(own).toHaveLength(2 * slots * 2)
  const [first, second] = [rowsOfMember(bundle, own[0]!), rowsOfMember(bundle, own[slots]!)]
  expect([...first, ...second].toSorted((a, b) => a - b)).toEqual(own)
  expect(partsAround(bundle, 0)).toEqual({ first: 0, count: 1 })
  expect(partsAround(bundle, 8)).toEqual({ first: 1, count: 8 })
  expect(partsAround(bundle, 9)).toEqual({ first: 9, count: 8 })
})

test('its addresses share its weight as they weigh against each other', () => {
  const { fill, shares } = setUp([
    member('192.0.2.99', { weight: 2 }),
    member('', { hostname: 'from:a', weight: 6 }),
  ])
  const weights = new Map([['192.0.2.2', 2]])
  fill('from:default:a', { v4: ['192.0.2.1', '192.0.2.2'], v6: [], weights })
  const { '192.0.2.1': one, '192.0.2.2': two, '192.0.2.99': fixed } = shares()
  expect(two).toBe(2 * one!)
  expect(one! + two!).toBe(3 * fixed!)
})

test('64 members of one source share its weight, whatever part they are in', () => {
  const { fill, shares } = setUp([member('', { hostname: 'from:a' })])
  fill('from:default:a', { v4: addresses(64), v6: [] })
  const found = Object.values(shares())
  expect(found).toHaveLength(64)
  expect(new Set(found).size).toBe(1)
})

test('a member without weight gives its addresses none', () => {
  const { fill, shares } = setUp([member('', { hostname: 'from:a', weight: 0 })])
  fill('from:default:a', { v4: ['192.0.2.1'], v6: [], weights: new Map([['192.0.2.1', 9]]) })
  expect(shares()).toEqual({ '192.0.2.1': 0 })
})

test('each discovered address counts for minHealthy, where a host name counts once', () => {
  const { bundle, state, fill } = setUp([
    member('', { hostname: 'from:a' }),
    member('', { hostname: 'lb.example.net.' }),
  ])
  fill('from:default:a', { v4: addresses(20), v6: ['2001:db8::1'] })
  fill('lb.example.net.', { v4: ['198.51.100.1', '198.51.100.2'], v6: [] })
  expect(readyMembers(bundle, state, 0)).toBe(22)
})
