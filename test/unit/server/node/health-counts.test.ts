// Members counted by what is said of them.
import { expect, test } from 'vitest'
import { createRoutingState } from '#routing/state/candidates.ts'
import { countHealth } from '#server/node/health-counts.ts'
import { bundleOf, healthCheck, pool } from '#test/support/bundle-models.ts'

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
  expect(counts).toEqual({ healthy: 4, unhealthy: 0, warming: 0, unprobed })
})
