import { expect, test } from 'vitest'
import type { PoolModel } from '#bundle/format/model.ts'
import { createRoutingState, isReady, rebuildPool } from '#routing/state/candidates.ts'
import { addressNow, fillSlots } from '#routing/state/slots.ts'
import { HealthLink } from '#server/node/health-link.ts'
import type { Outcome } from '#health/probes/probe.ts'
import { bundleOf, member, pool, zone } from '#test/support/bundle-models.ts'
import { simulatedMonitor } from '../../health/simulated-monitor.ts'
import { check } from '../linked-node.ts'

/** A pool of one host name, probed every ten seconds. */
async function setUp(parts: Partial<PoolModel>) {
  const { world, monitor } = await simulatedMonitor()
  const outcomes = new Map<string, Outcome>()
  world.answer = ({ ipAddress }) => ({
    outcome: outcomes.get(ipAddress) ?? 'success',
    afterMs: 10,
  })
  const members = [member('', { hostname: 'lb.example.net.' })]
  const pools = [pool(1, members, { healthCheck: check, ...parts })]
  const bundle = bundleOf({ zones: [zone('test.')], pools })
  const state = createRoutingState(bundle, 1)
  let found = { v4: [] as string[], v6: [] as string[], error: '' }
  const statusOf = () => ({ ...found, resolvedAtMs: 0, unused: 0 })
  const link = new HealthLink(monitor, world.after, { statusOf })
  link.prepare(bundle, state)
  link.serve(bundle, state)
  const rows = [...state.memberHealthy.keys()]
  return {
    outcomes,
    resolve: (v4: string[], error = ''): void => {
      found = { v4, v6: [], error }
      if (parts.answer !== 'cname') fillSlots(bundle, state, 0, found)
      link.addressesChanged(rows)
      rebuildPool(bundle, state, 0)
    },
    walk: (durationMs: number) => world.walk(durationMs),
    candidates: (): string[] =>
      rows
        .filter((row) => isReady(bundle, state, row))
        .map((row) => addressNow(bundle, state, row)),
  }
}

test('each address of a host name is probed, and one that comes instead begins anew', async () => {
  const node = await setUp({})
  expect(node.candidates()).toEqual([])
  node.resolve(['192.0.2.1', '192.0.2.2'])
  node.outcomes.set('192.0.2.1', 'failure')
  node.walk(60_000)
  expect(node.candidates()).toEqual(['192.0.2.2'])
  node.resolve(['192.0.2.3', '192.0.2.2'])
  expect(node.candidates()).toEqual(['192.0.2.3', '192.0.2.2'])
  node.outcomes.set('192.0.2.2', 'failure')
  node.walk(60_000)
  expect(node.candidates()).toEqual(['192.0.2.3'])
})

test('an alias is as healthy as the best of its addresses, and ill when it has none', async () => {
  const node = await setUp({ answer: 'cname' })
  expect(node.candidates()).toEqual(['lb.example.net.'])
  node.resolve(['192.0.2.1', '192.0.2.2'])
  node.outcomes.set('192.0.2.1', 'failure')
  node.walk(60_000)
  expect(node.candidates()).toEqual(['lb.example.net.'])
  node.outcomes.set('192.0.2.2', 'failure')
  node.walk(60_000)
  expect(node.candidates()).toEqual([])
  node.outcomes.clear()
  node.walk(60_000)
  expect(node.candidates()).toEqual(['lb.example.net.'])
  node.resolve([], 'there is no such name')
  expect(node.candidates()).toEqual([])
})
