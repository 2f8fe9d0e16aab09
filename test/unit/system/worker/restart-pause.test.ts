// How long is waited before what has died starts again.
import { expect, test } from 'vitest'
import { RestartPause } from '#system/worker/restart-pause.ts'
import { FakeTime } from '#test/support/fake-time.ts'

const restarts = { firstMs: 10, mostMs: 50, stableMs: 1_000 }

test.each<[string, number[], number[]]>([
  ['one after the other', [0, 0, 0, 0, 0], [10, 20, 40, 50, 50]],
  ['just before it counts as stable', [0, 999, 999, 999], [10, 20, 40, 50]],
  ['when it was stable in between', [0, 0, 0, 1_000, 0, 5_000], [10, 20, 40, 10, 20, 10]],
])('deaths %s', (_what, afterMs, pausesMs) => {
  const time = new FakeTime(0)
  const pause = new RestartPause(restarts, time.clock)
  const paused = afterMs.map((ms) => {
    time.pass(ms)
    return pause.nextMs()
  })
  expect(paused).toEqual(pausesMs)
})

test('a reset ends the row', () => {
  const pause = new RestartPause(restarts, new FakeTime(0).clock)
  expect([pause.nextMs(), pause.nextMs()]).toEqual([10, 20])
  pause.reset()
  expect(pause.nextMs()).toBe(10)
})

test('a pause that would count as a stable time is our mistake', () => {
  expect(() => new RestartPause({ ...restarts, mostMs: 1_000 })).toThrow('the longest pause')
})
