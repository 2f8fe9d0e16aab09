// The time that 99 of 100 recent answers took.
import { expect, test } from 'vitest'
import { Counters } from '#answer/counters/counters.ts'
import { LatencyWindow, latencyWindow } from '#answer/counters/latency-window.ts'
import { FakeTime } from '#test/support/fake-time.ts'

function scene() {
  const time = new FakeTime(0)
  const counters = new Counters(new SharedArrayBuffer(Counters.bytes))
  const window = new LatencyWindow(time.clock)
  return { time, counters, p99Us: () => window.p99Us([counters.snapshot()]) }
}

test.each([
  [[], null],
  [[[0.02, 100]], 25],
  [
    [
      [0.02, 99],
      [3, 1],
    ],
    25,
  ],
  [
    [
      [0.02, 98],
      [3, 2],
    ],
    5_000,
  ],
  [[[700, 1]], 100_000],
] as const)('the 99th percentile of %j is %s µs', (rows, expected) => {
  const { counters, p99Us } = scene()
  for (const [ms, count] of rows) counters.timed(ms, count)
  expect(p99Us()).toBe(expected)
})

test('slow answers from before the window do not count', () => {
  const { time, counters, p99Us } = scene()
  counters.timed(40, 1_000)
  expect(p99Us()).toBe(50_000)
  const seen: (number | null)[] = []
  for (let i = 0; i < 8; i++) {
    time.pass(latencyWindow.stepMs)
    counters.timed(0.3, 10)
    seen.push(p99Us())
  }
  const steps = latencyWindow.spanMs / latencyWindow.stepMs
  expect(seen.slice(0, steps - 1)).toEqual(Array.from({ length: steps - 1 }, () => 50_000))
  expect(seen.slice(steps - 1)).toEqual([500, 500, 500])
})
