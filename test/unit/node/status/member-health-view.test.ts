import { expect, test } from 'vitest'
import { createMemberHealthView } from '#node/status/member-health-view.ts'
import type { HealthMonitor } from '#health/view/monitor.ts'
import { createMemoryHealthVerdicts } from '../../../support/memory-health-verdicts.ts'
import { probeTarget } from '../../health/check.ts'
import { simulatedMonitor } from '../../health/simulated-monitor.ts'

const mode = { externalSignalMode: 'and' } as const
const member = { uid: 'm1', ipAddress: '127.0.0.1', ...mode }
const check = { intervalMs: 1_000 }

test('a member that fails says why and since when, and when it was looked at last', async () => {
  const { world, monitor } = await simulatedMonitor()
  const view = createMemberHealthView(monitor, 'n1', world.clock)
  monitor.setTargets([probeTarget('m0', check), probeTarget('m1', check)])
  expect(view.of(member)).toMatchObject({ reason: '', sinceMs: 0, lastCheckedMs: 0, score: 1 })
  world.walk(5_000)
  const up = view.of(member)
  expect(up).toMatchObject({ healthy: true, reason: '', score: 1 })
  expect(up.sinceMs).toBeGreaterThan(0)
  expect(world.clock.nowMs() - up.lastCheckedMs).toBeLessThanOrEqual(1_000)

  world.answer = ({ memberUid }) => {
    return { outcome: memberUid === 'm1' ? 'failure' : 'success', afterMs: 5 }
  }
  world.walk(5_000)
  const down = view.of(member)
  expect(down).toMatchObject({ healthy: false, reason: 'simulated failure' })
  expect(down.sinceMs).toBeGreaterThan(up.lastCheckedMs)
  // It is probed on: nothing of it changes, and still it is known when.
  world.walk(60_000)
  const later = view.of(member)
  expect(later.sinceMs).toBe(down.sinceMs)
  expect(world.clock.nowMs() - later.lastCheckedMs).toBeLessThanOrEqual(1_000)

  world.answer = () => ({ outcome: 'timeout', afterMs: 5 })
  world.walk(3_000)
  expect(view.of(member)).toMatchObject({ reason: 'simulated timeout', sinceMs: down.sinceMs })
  world.answer = () => ({ outcome: 'success', afterMs: 5 })
  world.walk(3_000)
  const back = view.of(member)
  expect(back).toMatchObject({ healthy: true, reason: '', score: 1 })
  expect(back.sinceMs).toBeGreaterThan(down.sinceMs)
  await monitor.stop()
})

test('the round-trip time is that of the last probe, and no mean', async () => {
  const { world, monitor } = await simulatedMonitor()
  const view = createMemberHealthView(monitor, 'n1', world.clock)
  world.answer = () => ({ outcome: 'success', afterMs: 5 })
  monitor.setTargets([probeTarget('m1', check)])
  world.walk(20_000)
  world.answer = () => ({ outcome: 'success', afterMs: 80 })
  world.walk(check.intervalMs + 1_000)
  expect(view.of(member).rttMs).toBe(80)
  expect(monitor.ownHealthOf('m1', '127.0.0.1')!.rttMs).toBeLessThan(80)
  await monitor.stop()
})

test('a member that is down has no round-trip time: it would be that of another time', async () => {
  const { world, monitor } = await simulatedMonitor()
  const view = createMemberHealthView(monitor, 'n1', world.clock)
  world.answer = () => ({ outcome: 'success', afterMs: 5 })
  monitor.setTargets([probeTarget('m1', check)])
  world.walk(20_000)
  expect(view.of(member).rttMs).toBeGreaterThan(0)
  world.answer = () => ({ outcome: 'failure', afterMs: 5 })
  world.walk(5_000)
  expect(view.of(member)).toMatchObject({ healthy: false, rttMs: 0 })
  await monitor.stop()
})

test('the score of an unhealthy member is not 1, whoever says that it is down', async () => {
  const { world, monitor } = await simulatedMonitor()
  world.answer = () => ({ outcome: 'failure', afterMs: 5 })
  const view = createMemberHealthView(monitor, 'n1', world.clock)
  monitor.setTargets([probeTarget('m1', check)])
  world.walk(3_000)
  expect(view.of(member)).toMatchObject({ score: 0, nodes: [{ node: 'n1', score: 0 }] })
  // Routing goes on with the score of the probes: nothing is answered otherwise than before.
  expect(monitor.healthOf('m1', '127.0.0.1')).toMatchObject({ healthy: false, score: 1 })

  let tell: (memberUids: readonly string[]) => void = () => undefined
  const signalled: HealthMonitor = {
    ...blankMonitor(monitor),
    signalOf: () => false,
    onSignal: (handler) => void (tell = handler),
  }
  const other = createMemberHealthView(signalled, 'n1', world.clock)
  tell(['m2'])
  const unprobed = other.of({ ...member, uid: 'm2' })
  const words = 'an outside monitor says that it is down'
  expect(unprobed).toMatchObject({ healthy: false, score: 0, reason: words })
  expect(unprobed.sinceMs).toBe(world.clock.nowMs())
  expect(unprobed.nodes).toEqual([
    { node: 'n1', healthy: false, score: 0, reason: words, sinceMs: unprobed.sinceMs },
  ])
  await monitor.stop()
})

test('after a restart it is known since when a member is down, and why', async () => {
  const verdicts = createMemoryHealthVerdicts()
  const first = await simulatedMonitor(1, verdicts)
  first.world.answer = () => ({ outcome: 'failure', afterMs: 5 })
  first.monitor.setTargets([probeTarget('m1', check)])
  first.world.walk(3_000)
  const { sinceMs } = first.monitor.healthOf('m1', '127.0.0.1')!
  await first.monitor.stop()

  const second = await simulatedMonitor(2, verdicts)
  second.world.answer = () => ({ outcome: 'failure', afterMs: 5 })
  second.monitor.setTargets([probeTarget('m1', check)])
  const view = createMemberHealthView(second.monitor, 'n1', second.world.clock)
  const before = { healthy: false, sinceMs: Math.floor(sinceMs), lastCheckedMs: 0 }
  expect(view.of(member)).toMatchObject({ ...before, reason: 'simulated failure' })
  second.world.walk(3_000)
  expect(view.of(member)).toMatchObject({
    sinceMs: Math.floor(sinceMs),
    reason: 'simulated failure',
  })
  await second.monitor.stop()
})

test('another set of targets and another check forget no times', async () => {
  const { world, monitor } = await simulatedMonitor()
  world.answer = () => ({ outcome: 'failure', afterMs: 5 })
  const view = createMemberHealthView(monitor, 'n1', world.clock)
  const rare = { intervalMs: 600_000 }
  monitor.setTargets([probeTarget('m1', rare)])
  world.walk(700_000)
  const before = view.of(member)
  monitor.setTargets([probeTarget('m0', rare), probeTarget('m1', rare)])
  expect(view.of(member)).toEqual(before)
  monitor.setTargets([probeTarget('m1', { ...rare, port: 8080 })])
  expect(view.of(member)).toMatchObject({ ...before, rttMs: 0 })
  await monitor.stop()
})

function blankMonitor(monitor: HealthMonitor): HealthMonitor {
  return {
    runsScripts: false,
    start: () => undefined,
    adopted: () => monitor.adopted(),
    setTargets: () => undefined,
    onChange: () => undefined,
    onUpdate: () => undefined,
    healthOf: () => undefined,
    verdictOf: () => undefined,
    ownHealthOf: () => undefined,
    peersOf: () => null,
    peers: () => null,
    agents: () => null,
    permitAgents: () => undefined,
    onSignal: () => undefined,
    signalOf: () => undefined,
    signalled: () => [],
    stats: () => monitor.stats(),
    stop: () => monitor.stop(),
  }
}

test('a member without probes has no verdict until an outside monitor reports one', async () => {
  const { world, monitor } = await simulatedMonitor()
  const signals = new Map<string, boolean>()
  const signalled = Object.assign(monitor, { signalOf: (uid: string) => signals.get(uid) })
  monitor.setTargets([probeTarget('m1', check)])
  const view = createMemberHealthView(signalled, 'n1', world.clock)
  const other = { ...member, uid: 'm2', ipAddress: '127.0.0.2' }
  expect(createMemberHealthView(null, 'n1', world.clock).of(member)).toMatchObject({
    ...{ healthy: true, isProbed: false },
  })
  expect(view.of(other)).toMatchObject({ healthy: true, isProbed: false })
  signals.set('m2', true)
  expect(view.of(other)).toMatchObject({ healthy: true, isProbed: true })
  await monitor.stop()
})
