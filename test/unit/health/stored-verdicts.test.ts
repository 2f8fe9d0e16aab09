import { expect, test } from 'vitest'
import { targetKey } from '#health/probes/probe.ts'
import { createMemoryHealthVerdicts } from '#test/support/memory-health-verdicts.ts'
import type { HealthVerdicts, StoredVerdict } from '#state/ports/health-verdicts.ts'
import { probeTarget } from './check.ts'
import { simulatedMonitor } from './simulated-monitor.ts'

/** A memory store that shows what it was asked to save, each verdict as healthy and warming. */
function watchedStore(): { store: HealthVerdicts; saved: string[] } {
  const store = createMemoryHealthVerdicts()
  const saved: string[] = []
  const save = (verdicts: readonly StoredVerdict[]): Promise<void> => {
    for (const { memberUid, healthy, warming } of verdicts) {
      saved.push(`${memberUid} ${healthy ? 'healthy' : 'unhealthy'}${warming ? ' warming' : ''}`)
    }
    return store.save(verdicts)
  }
  return { store: { ...store, save }, saved }
}

const settled = (): Promise<void> => new Promise((resolve) => setImmediate(resolve))

test('a score that moves is written only when it changes the verdict', async () => {
  const { store, saved } = watchedStore()
  const { world, monitor } = await simulatedMonitor(1, store)
  const results = ['success', 'failure', 'success', 'success', 'failure'] as const
  let count = 0
  world.answer = () => ({ outcome: results[count++ % results.length]!, afterMs: 5 })
  monitor.setTargets([probeTarget('m1', { scoreWindow: 4 })])
  world.walk(600_000)
  await settled()
  expect(world.measures.length).toBeGreaterThan(20)
  expect(saved).toEqual([])
  world.answer = () => ({ outcome: 'failure', afterMs: 5 })
  world.walk(60_000)
  await settled()
  expect(saved).toEqual(['m1 unhealthy'])
})

test('a gate is written when it closes and when it opens, not with each pass', async () => {
  const { store, saved } = watchedStore()
  const { world, monitor } = await simulatedMonitor(1, store)
  monitor.setTargets([probeTarget('m1')])
  const arrivals = new Set([targetKey('m2', '192.0.2.2')])
  const gated = probeTarget('m2', {}, '192.0.2.2', 4)
  monitor.setTargets([probeTarget('m1'), gated], { arrivals })
  await settled()
  expect(saved).toEqual(['m2 healthy warming'])
  world.walk(600_000)
  await settled()
  expect(saved).toEqual(['m2 healthy warming', 'm2 healthy'])
})

test('a gate that the configuration takes away is written as open', async () => {
  const { store, saved } = watchedStore()
  const { monitor } = await simulatedMonitor(1, store)
  const arrivals = new Set([targetKey('m2', '192.0.2.2')])
  monitor.setTargets([probeTarget('m2', {}, '192.0.2.2', 4)], { arrivals })
  monitor.setTargets([probeTarget('m2', {}, '192.0.2.2', 0)])
  await settled()
  expect(saved.at(-1)).toBe('m2 healthy')
  expect(monitor.healthOf('m2', '192.0.2.2')).toMatchObject({ isWarming: false })
})

test('an unchanged verdict is written again after a new check', async () => {
  const { store, saved } = watchedStore()
  const { world, monitor } = await simulatedMonitor(1, store)
  monitor.setTargets([probeTarget('m1')])
  world.walk(60_000)
  monitor.setTargets([probeTarget('m1', { type: 'http' })])
  world.walk(60_000)
  await settled()
  expect(saved).toEqual(['m1 healthy'])
})

test('a worker that is silent for long makes what is known old', async () => {
  const { world, monitor } = await simulatedMonitor()
  monitor.setTargets([probeTarget('m1')])
  expect(monitor.healthOf('m1', '127.0.0.1')).toMatchObject({ knowledge: 'unknown' })
  world.walk(20_000)
  expect(monitor.healthOf('m1', '127.0.0.1')).toMatchObject({ knowledge: 'known' })
  // Its clock goes on, and no probe ends any more.
  world.nowMs += 31_000
  expect(monitor.healthOf('m1', '127.0.0.1')).toMatchObject({ knowledge: 'stale', healthy: true })
})

test('a stored verdict is stale until a probe confirms it', async () => {
  const verdicts = createMemoryHealthVerdicts()
  const stored = {
    memberUid: 'm1',
    ipAddress: '127.0.0.1',
    healthy: false,
    warming: false,
    atMs: 1,
  }
  await verdicts.save([stored])
  const { world, monitor } = await simulatedMonitor(1, verdicts)
  monitor.setTargets([probeTarget('m1'), probeTarget('m2')])
  const known = { healthy: false, knowledge: 'stale' }
  expect(monitor.healthOf('m1', '127.0.0.1')).toMatchObject(known)
  expect(monitor.healthOf('m2', '127.0.0.1')).toMatchObject({ knowledge: 'unknown' })
  world.answer = () => ({ outcome: 'failure', afterMs: 5 })
  world.walk(20_000)
  expect(monitor.healthOf('m1', '127.0.0.1')).toMatchObject({ healthy: false, knowledge: 'known' })
})

test('verdict, gate and round trip time outlive their worker', async () => {
  const { world, monitor, crash } = await simulatedMonitor()
  world.answer = ({ memberUid }) => ({
    outcome: memberUid === 'down' ? 'failure' : 'success',
    afterMs: 20,
  })
  const arrivals = new Set([targetKey('new', '127.0.0.1')])
  const targets = [probeTarget('up'), probeTarget('down'), probeTarget('new', {}, '127.0.0.1', 6)]
  monitor.setTargets(targets, { arrivals })
  world.walk(40_000)
  expect(monitor.healthOf('up', '127.0.0.1')!.rttMs).toBe(20)
  await crash()
  world.walk(15_000)
  expect(monitor.healthOf('up', '127.0.0.1')).toMatchObject({ healthy: true, rttMs: 20 })
  expect(monitor.verdictOf('down', '127.0.0.1')).toBe(false)
  const gate = monitor.healthOf('new', '127.0.0.1')!
  expect([gate.isWarming, gate.warmupPasses < 3]).toEqual([true, true])
  world.walk(60_000)
  expect(monitor.healthOf('new', '127.0.0.1')!.isWarming).toBe(false)
})

test('another check starts the round trip time anew', async () => {
  const { world, monitor } = await simulatedMonitor()
  monitor.setTargets([probeTarget('m1')])
  world.walk(40_000)
  expect(monitor.healthOf('m1', '127.0.0.1')!.rttMs).toBe(5)
  monitor.setTargets([probeTarget('m1', { type: 'http' })])
  expect(monitor.healthOf('m1', '127.0.0.1')!.rttMs).toBe(0)
})
