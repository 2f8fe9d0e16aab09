// Members counted by what is said of them.
import { expect, test } from 'vitest'
import { membersWithSlots } from '#bundle/format/hostnames.ts'
import { createRoutingState } from '#routing/state/candidates.ts'
import { MemberOut } from '#routing/state/state.ts'
import { countHealth } from '#server/node/health-counts.ts'
import { bundleOf, healthCheck, member, pool } from '#test/support/bundle-models.ts'

const script = { ...healthCheck, type: 'script', scriptContent: 'exit 0' } as const
const bundle = bundleOf({
  pools: [
    pool(1, ['192.0.2.1'], { healthCheck }),
    pool(2, ['192.0.2.2'], { healthCheck: script }),
    pool(3, ['192.0.2.3', '192.0.2.4']),
  ],
})

test.each([
  ['with all checks', { runsScripts: true }, 2],
  ['that runs no scripts', { runsScripts: false }, 3],
  ['without checks', null, 4],
])('a node %s: members that nobody probes', (_what, health, unprobed) => {
  const counts = countHealth(bundle, createRoutingState(bundle, 1), health)
  expect(counts).toEqual({ healthy: 4, unhealthy: 0, warming: 0, unprobed, unresolved: 0 })
})

test('a member without an address counts once, and only while it has none', () => {
  const from = { hostname: 'from:k8s/shop/web' }
  const hostname = member('', { hostname: 'a.example.net.' })
  const twice = [member('', from), member('', { ...from, port: 8443 })]
  const named = bundleOf({
    pools: [
      pool(1, [member('192.0.2.1'), hostname, member('', from)]),
      pool(2, [...twice, member('', { ...from, enabled: false, port: 80 })]),
    ],
  })
  const state = createRoutingState(named, 1)
  const counts = () => countHealth(named, state, null)
  expect(counts()).toMatchObject({ healthy: 1, unresolved: 4 })
  const [slots = []] = membersWithSlots(named)
  state.memberOut[slots.at(-1)!]! &= ~MemberOut.Unresolved
  expect(counts()).toMatchObject({ healthy: 2, unresolved: 3 })
})
