// However often callers ask, the node looks once a second, and never before it was asked.
import { expect, test } from 'vitest'
import { AskedLooks } from '#gitops/sync/asked-looks.ts'
import { FakeTime } from '#test/support/fake-time.ts'

function scene() {
  const time = new FakeTime(1_000_000)
  const at: number[] = []
  const look = () => void at.push(time.clock.nowMs() - 1_000_000)
  const looks = new AskedLooks({ look, clock: time.clock, after: time.after })
  return { time, at, looks }
}

test('the first look is at once, those after it share one a second', () => {
  const { time, at, looks } = scene()
  expect(looks.ask()).toBe(1_000_000)
  for (let count = 0; count < 1_000; count++) looks.ask()
  expect([at, time.waiting]).toEqual([[0], 1])
  time.pass(999)
  expect(looks.ask()).toBe(1_000_999)
  expect(at).toEqual([0])
  time.pass(1)
  expect([at, time.waiting]).toEqual([[0, 1_000], 0])
})

test('a request after a quiet second does not wait, not even if the clock is set back', () => {
  const { time, at, looks } = scene()
  looks.ask()
  time.pass(1_000)
  time.jump(-500_000)
  looks.ask()
  expect(at).toHaveLength(2)
})

test('a node that stops looks no more', () => {
  const { time, at, looks } = scene()
  looks.ask()
  looks.ask()
  looks.close()
  time.pass(10_000)
  expect(at).toEqual([0])
})
