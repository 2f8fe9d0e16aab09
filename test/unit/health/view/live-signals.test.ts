import { beforeEach, describe, expect, test } from 'vitest'
import { LiveSignals } from '#health/view/live-signals.ts'
import { createMemoryHealthSignals } from '#state/memory/health-signals.ts'
import type { HealthSignals } from '#state/ports/health-signals.ts'
import { Simulation } from '../simulation.ts'

const silent = (): void => undefined
const log = { info: silent, warn: silent, error: silent }

let world: Simulation
let signals: HealthSignals
let live: LiveSignals
let told: string[]

beforeEach(() => {
  world = new Simulation(1)
  signals = createMemoryHealthSignals(world.clock)
  told = []
  live = start(signals)
})

function start(from: HealthSignals): LiveSignals {
  const started = new LiveSignals({
    signals: from,
    clock: world.clock,
    after: world.after,
    log,
    onChange: (memberUids) => told.push(...memberUids),
  })
  started.start()
  return started
}

const post = (memberUid: string, source: string, healthy: boolean, ttlSeconds = 300, agoMs = 0) => {
  const postedAtMs = world.clock.nowMs() - agoMs
  const expiresAtMs = postedAtMs + ttlSeconds * 1_000
  return signals.post({ memberUid, source, healthy, score: null, postedAtMs, expiresAtMs })
}

describe('the verdict of outside monitors', () => {
  test('is nothing for a member of whom nobody speaks', () => {
    expect(live.verdictOf('m1')).toBeUndefined()
    expect([...live.members()]).toEqual([])
  })

  test('is unhealthy while any source says so, and only changes are told', async () => {
    await post('m1', 'a', true)
    expect(live.verdictOf('m1')).toBe(true)
    await post('m1', 'b', false)
    expect(live.verdictOf('m1')).toBe(false)
    await post('m1', 'c', false)
    await post('m1', 'b', true)
    expect(live.verdictOf('m1')).toBe(false)
    await post('m1', 'c', true)
    expect(live.verdictOf('m1')).toBe(true)
    expect(told).toEqual(['m1', 'm1', 'm1'])
  })

  test('ends when its time is over, to the second, and lets the rest speak', async () => {
    await post('m1', 'a', false, 10)
    await post('m1', 'b', true, 20)
    await post('m2', 'a', false, 3_600)
    world.walk(9_999)
    expect(live.verdictOf('m1')).toBe(false)
    world.walk(1)
    expect(live.verdictOf('m1')).toBe(true)
    world.walk(10_000)
    expect(live.verdictOf('m1')).toBeUndefined()
    expect([...live.members()]).toEqual(['m2'])
    world.walk(3_580_000)
    expect([...live.members()]).toEqual([])
  })

  test('is the newest word of a source, even when an older one arrives after its end', async () => {
    await post('m1', 'a', true, 10)
    world.walk(20_000)
    const other = createMemoryHealthSignals(world.clock)
    live = start(other)
    const sayAgain = (agoMs: number, healthy: boolean, ttlSeconds: number) => {
      const postedAtMs = world.clock.nowMs() - agoMs
      const expiresAtMs = postedAtMs + ttlSeconds * 1_000
      return other.post({
        memberUid: 'm1',
        source: 'x',
        healthy,
        score: null,
        postedAtMs,
        expiresAtMs,
      })
    }
    await sayAgain(0, true, 1)
    world.walk(2_000)
    await sayAgain(60_000, false, 3_600)
    expect(live.verdictOf('m1')).toBeUndefined()
  })

  test('is known to a node that starts later, as far as it still counts', async () => {
    await post('m1', 'a', false, 10, 11_000)
    await post('m2', 'a', false, 10, 5_000)
    const late = start(signals)
    await new Promise((resolve) => setImmediate(resolve))
    expect([...late.members()]).toEqual(['m2'])
  })

  test('a wall clock that jumps ahead ends it within half a minute', async () => {
    await post('m1', 'a', false, 3_600)
    world.wallOffsetMs += 3_600_000
    world.walk(30_000)
    expect(live.verdictOf('m1')).toBeUndefined()
  })

  test('wakes nobody when there is nothing to wait for', async () => {
    await post('m1', 'a', false, 10)
    world.walk(3 * 3_600_000)
    await post('m2', 'a', false, 10)
    live.stop()
    told.length = 0
    world.walk(60_000)
    expect(told).toEqual([])
  })
})
