import { describe, expect, test } from 'vitest'
import { targetKey } from '#health/probes/probe.ts'
import { probeTarget } from '../check.ts'
import { Simulation } from '../simulation.ts'

const [failure, success] = [
  { outcome: 'failure', afterMs: 5 },
  { outcome: 'success', afterMs: 5 },
] as const

describe('detection', () => {
  test('a failure is told within one interval and the timeout, at any moment it begins', () => {
    const delays: number[] = []
    for (let seed = 1; seed <= 200; seed++) {
      const world = new Simulation(seed)
      world.setTargets([probeTarget(`m${seed}`, { intervalMs: 10_000, timeoutMs: 2_000 })])
      world.walk(20_000 + seed * 97)
      const brokenMs = world.nowMs
      world.answer = () => ({ outcome: 'timeout', afterMs: 2_000 })
      world.walk(12_001)
      const [change] = world.changes
      expect(change).toMatchObject({ memberUid: `m${seed}`, healthy: false, rttMs: 2_000 })
      delays.push(change!.atMs - world.wallOffsetMs - brokenMs)
    }
    expect(Math.max(...delays)).toBeLessThanOrEqual(12_000)
    expect(Math.max(...delays)).toBeGreaterThan(11_000)
  })

  test('only changes are told, each once', () => {
    const world = new Simulation(1)
    world.setTargets([probeTarget('m1')])
    world.walk(60_000)
    world.answer = () => failure
    world.walk(60_000)
    world.answer = () => success
    world.walk(60_000)
    expect(world.changes.map(({ healthy, reason }) => [healthy, reason])).toEqual([
      [false, 'simulated failure'],
      [true, ''],
    ])
  })

  test('fallCount and riseCount hold a change back', () => {
    const world = new Simulation(1)
    world.setTargets([probeTarget('m1', { intervalMs: 1_000, fallCount: 3, riseCount: 2 })])
    let count = 0
    const results = [
      success,
      failure,
      failure,
      success,
      failure,
      failure,
      failure,
      success,
      success,
    ]
    world.answer = () => results[count++] ?? success
    world.walk(6_500)
    expect([count, world.changes.length]).toEqual([6, 0])
    world.walk(1_000)
    expect(world.changes.map((change) => change.healthy)).toEqual([false])
    world.walk(3_000)
    expect(world.changes.map((change) => change.healthy)).toEqual([false, true])
  })

  test('a probe this node could not make says nothing of the member', () => {
    const world = new Simulation(1)
    world.setTargets([probeTarget('m1')])
    world.answer = () => ({ outcome: 'local-error', afterMs: 0 })
    world.walk(60_000)
    expect(world.changes).toEqual([])
    expect(world.prober.stats.probes.tcp['local-error']).toBeGreaterThan(4)
  })

  test('a wall clock that jumps changes neither schedule nor verdict', () => {
    const world = new Simulation(1)
    world.setTargets([probeTarget('m1')])
    world.walk(60_000)
    const before = world.started.length
    for (const jumpMs of [86_400_000, -172_800_000]) {
      world.wallOffsetMs += jumpMs
      world.walk(60_000)
    }
    expect(world.changes).toEqual([])
    expect(world.started.length - before).toBeGreaterThanOrEqual(12)
    expect(world.started.length - before).toBeLessThanOrEqual(13)
  })
})

describe('a new set of targets', () => {
  test('leaves the schedule of a target that stays alone, however often it comes', () => {
    const [swapped, still] = [new Simulation(7), new Simulation(7)]
    const targets = (): ReturnType<typeof probeTarget>[] => [probeTarget('m1'), probeTarget('m2')]
    swapped.setTargets(targets())
    still.setTargets(targets())
    for (let i = 0; i < 600; i++) {
      swapped.walk(100)
      still.walk(100)
      swapped.setTargets(targets())
    }
    expect(still.started.length).toBeGreaterThan(10)
    expect(swapped.started).toEqual(still.started)
  })

  test('ends the probes of a target that is gone, and drops the one in flight', () => {
    const world = new Simulation(1)
    world.answer = () => ({ outcome: 'failure', afterMs: 2_000 })
    world.setTargets([probeTarget('m1')])
    while (world.running === 0) world.walk(1)
    world.setTargets([])
    expect(world.running).toBe(0)
    world.walk(3_600_000)
    expect(world.started.length).toBe(1)
    expect(world.changes).toEqual([])
    expect(world.prober.stats).toMatchObject({ targets: 0, inFlight: 0 })
  })

  test('keeps the verdict when the check is replaced, and confirms it with the next result', () => {
    const world = new Simulation(1)
    world.answer = () => failure
    world.setTargets([probeTarget('m1')])
    world.walk(10_000)
    expect(world.changes.length).toBe(1)
    world.setTargets([probeTarget('m1', { type: 'http' })])
    world.walk(30_000)
    expect(world.changes.length).toBe(1)
    const confirmed = world.messages.flatMap((message) => message.confirmed)
    expect(confirmed.map(({ memberUid, healthy }) => [memberUid, healthy])).toEqual([['m1', false]])
    world.answer = () => success
    world.walk(10_000)
    expect(world.changes.map((change) => change.healthy)).toEqual([false, true])
  })

  test('drops the result of a replaced check that was in flight', () => {
    const world = new Simulation(1)
    world.answer = ({ check }) => ({
      outcome: check.type === 'tcp' ? 'failure' : 'success',
      afterMs: 2_000,
    })
    world.setTargets([probeTarget('m1')])
    while (world.running === 0) world.walk(1)
    world.setTargets([probeTarget('m1', { type: 'http' })])
    world.walk(60_000)
    expect(world.changes).toEqual([])
  })

  test('a member that moves to another address is healthy until probed there', () => {
    const world = new Simulation(1)
    world.answer = ({ ipAddress }) => (ipAddress === '192.0.2.1' ? failure : success)
    world.setTargets([probeTarget('m1', {}, '192.0.2.1')])
    world.walk(10_000)
    world.setTargets([probeTarget('m1', {}, '192.0.2.2')])
    world.walk(60_000)
    expect(world.changes.map((change) => change.ipAddress)).toEqual(['192.0.2.1'])
  })

  test('takes the verdicts it is handed, for targets it does not know', () => {
    const world = new Simulation(1)
    world.setTargets([probeTarget('m1'), probeTarget('m2')], [targetKey('m1', '127.0.0.1')])
    world.walk(10_000)
    expect(world.changes.map(({ memberUid, healthy }) => [memberUid, healthy])).toEqual([
      ['m1', true],
    ])
  })

  test('tells what was found before it as found before it', () => {
    const world = new Simulation(1)
    const many = Array.from({ length: 500 }, (_, i) => probeTarget(`m${i}`, { intervalMs: 1_000 }))
    world.answer = () => ({ outcome: 'failure', afterMs: 0 })
    world.setTargets(many)
    for (let i = 0; i < 100; i++) {
      world.walk(7)
      world.setTargets(many)
    }
    const seen = new Set<string>()
    for (const { changes } of world.messages)
      for (const change of changes) seen.add(change.memberUid)
    expect(seen.size).toBe(world.started.length)
    const generations = world.messages.map((message) => message.generation)
    expect(generations).toEqual(generations.toSorted((a, b) => a - b))
  })
})

describe('load', () => {
  const many = Array.from({ length: 2_000 }, (_, i) => probeTarget(`m${i}`))

  test('never more probes at once than the limit; what waits is counted as late', () => {
    const world = new Simulation(1, 50)
    world.answer = () => ({ outcome: 'timeout', afterMs: 2_000 })
    world.setTargets(many)
    world.walk(60_000)
    expect(world.runningMax).toBe(50)
    expect(world.prober.stats.late).toBeGreaterThan(500)
    // 50 sockets of 2 s each: 25 probes a second, all of them used.
    expect(world.started.length).toBeGreaterThan(1_400)
  })

  test('no probe is late when there is room', () => {
    const world = new Simulation(1)
    world.setTargets(many)
    world.walk(60_000)
    expect(world.prober.stats.late).toBe(0)
    expect(world.started.length).toBeGreaterThan(12_000)
  })

  test('a storm of changes leaves in batches at least 20 ms apart, a single one at once', () => {
    const world = new Simulation(1)
    world.setTargets(many)
    world.walk(20_000)
    const before = world.messages.length
    world.answer = () => failure
    world.walk(10_000)
    const batches = world.messages.length - before
    expect(world.changes.length).toBe(2_000)
    expect(batches).toBeLessThanOrEqual(10_000 / 20 + 1)
    expect(batches).toBeGreaterThan(300)
  })

  test('probes of one target never overlap, however long they take', () => {
    const world = new Simulation(1)
    world.answer = () => ({ outcome: 'success', afterMs: 3_700 })
    world.setTargets([probeTarget('m1', { intervalMs: 1_000, timeoutMs: 5_000 })])
    world.walk(3_600_000)
    expect(world.runningMax).toBe(1)
    expect(world.started.length).toBeGreaterThan(900)
  })

  test('a stopped prober starts nothing and says nothing', () => {
    const world = new Simulation(1)
    world.setTargets(many)
    world.walk(5_000)
    world.prober.stop()
    const [started, told] = [world.started.length, world.messages.length]
    world.walk(60_000)
    expect([world.started.length, world.messages.length, world.running]).toEqual([started, told, 0])
  })
})
