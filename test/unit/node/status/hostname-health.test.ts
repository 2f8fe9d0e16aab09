import { expect, test } from 'vitest'
import { healthOf, showHealth } from '#api/resources/health-status.ts'
import type { MemberPart } from '#api/resources/member.ts'
import { withHostnames } from '#node/status/hostname-health.ts'
import { createMemberHealthView } from '#node/status/member-health-view.ts'
import { probeTarget } from '../../health/check.ts'
import { simulatedMonitor } from '../../health/simulated-monitor.ts'

const part: MemberPart = {
  uid: 'm1',
  name: '',
  ipAddress: '',
  hostname: 'LB.example.net',
  from: '',
  port: 443,
  weight: 1,
  priority: 0,
  enabled: true,
  region: 'unknown',
  ...{ provider: '', site: '', capacity: 100 },
  warmupThreshold: 0,
  rumUrl: '',
  externalSignalMode: 'and',
}

async function shownWith(
  status: {
    readonly v4: readonly string[]
    readonly error: string
    readonly resolvedAtMs?: number
  },
  member = part,
) {
  const { world, monitor } = await simulatedMonitor()
  const targets = status.v4.filter(Boolean).map((ipAddress) => {
    return { ...probeTarget('m1', { intervalMs: 1_000 }), ipAddress }
  })
  monitor.setTargets(targets)
  world.answer = ({ ipAddress }) => {
    return { outcome: ipAddress === '192.0.2.1' ? 'failure' : 'success', afterMs: 5 }
  }
  world.walk(5_000)
  const asked: string[] = []
  const view = withHostnames(createMemberHealthView(monitor, 'n1', world.clock), {
    statusOf: (hostname) => {
      asked.push(hostname)
      return { v6: [], unused: 0, resolvedAtMs: 5, ...status }
    },
  })
  const shown = showHealth(healthOf(view, member, 'default'), member, {
    weight: 1,
    enabled: true,
    heldBy: null,
  })
  expect(asked).toEqual([member.from === '' ? 'lb.example.net.' : 'from:default:k8s/shop/web'])
  await monitor.stop()
  return shown
}

test('a host name is healthy with any of its addresses, and each is shown', async () => {
  const shown = await shownWith({ v4: ['192.0.2.1', '', '192.0.2.2'], error: '' })
  expect(shown).toMatchObject({
    healthy: true,
    reason: '',
    resolved: [
      { address: '192.0.2.1', healthy: false },
      { address: '192.0.2.2', healthy: true },
    ],
    resolvedAt: 5,
    resolveError: '',
  })
})

test('with none it is unhealthy, for the reason of an address', async () => {
  const shown = await shownWith({ v4: ['192.0.2.1'], error: 'there is no such name' })
  expect(shown).toMatchObject({
    healthy: false,
    reason: 'simulated failure',
    resolveError: 'there is no such name',
  })
})

test('a host name that never resolved says so', async () => {
  const shown = await shownWith({ v4: [], error: 'there is no such name', resolvedAtMs: 0 })
  expect(shown).toMatchObject({
    healthy: false,
    reason: 'does not resolve: there is no such name',
    resolved: [],
    resolvedAt: 0,
  })
})

test.each([
  ['a host name', {}, 'does not resolve: it has no address'],
  [
    'a source',
    { hostname: '', from: 'k8s/shop/web' },
    'is not discovered: its source finds no address; look what it lists',
  ],
])('%s that was asked for, and has nobody, is not healthy and says so', async (_what, of, why) => {
  const shown = await shownWith({ v4: ['', ''], error: '', resolvedAtMs: 5 }, { ...part, ...of })
  expect(shown).toMatchObject({
    ...{ healthy: false, score: 0, healthyNodes: 0, totalNodes: 1 },
    ...{ resolved: [], resolvedAt: 5, resolveError: '' },
    reason: expect.stringContaining(why) as unknown,
  })
})

test('a host name that was not resolved yet counts as healthy', async () => {
  expect(await shownWith({ v4: [], error: '', resolvedAtMs: 0 })).toMatchObject({ healthy: true })
})
