import { readdirSync } from 'node:fs'
import { expect, test } from 'vitest'
import { ThreadLoad } from '#node/status/thread-load.ts'
import type { Clock } from '#lib/clock.ts'

/** Milliseconds of CPU time that the clock of a test has gone ahead by hand. */
function handClock(): Clock & { ahead: (ms: number) => void } {
  let ms = 0
  return {
    nowMs: () => ms,
    monotonicMs: () => ms,
    ahead: (by) => {
      ms += by
    },
  }
}

const mainThread = process.pid

/** Uses CPU time of this thread alone: threads beside it collect garbage and compile. */
function burn(cpuMs: number): void {
  const start = process.threadCpuUsage()
  const usedMs = (): number => {
    const { user, system } = process.threadCpuUsage(start)
    return (user + system) / 1000
  }
  while (usedMs() < cpuMs);
}

test('a thread is as busy as the kernel says, and never more than wholly', () => {
  const clock = handClock()
  const load = new ThreadLoad(clock)
  load.sample([mainThread])
  expect(load.busyRatio(mainThread), 'one sample says nothing').toBe(0)
  burn(60)
  clock.ahead(1_000)
  load.sample([mainThread])
  const ratio = load.busyRatio(mainThread)
  expect(ratio).toBeGreaterThan(0.03)
  expect(ratio).toBeLessThanOrEqual(1)
  burn(30)
  clock.ahead(1)
  load.sample([mainThread])
  expect(load.busyRatio(mainThread)).toBe(1)
})

test('unknown threads and a clock that stands still are passed over', () => {
  const clock = handClock()
  const load = new ThreadLoad(clock)
  const ids = readdirSync('/proc/self/task').map(Number)
  const nobody = Math.max(...ids) + 4_000_000
  load.sample([0, nobody, mainThread])
  load.sample([0, nobody, mainThread])
  expect([0, nobody, mainThread].map((id) => load.busyRatio(id))).toEqual([0, 0, 0])
})
