import { expect, test } from 'vitest'
import { holderOf, isFreeFor, LeaseWatch } from '#lib/cluster/lease-watch.ts'
import { FakeTime } from '#test/support/fake-time.ts'

test('a lease is abandoned when its mark stays the same for the whole time', () => {
  const time = new FakeTime(0)
  const watch = new LeaseWatch(time.clock, 60)
  const steps: readonly (readonly [passedMs: number, mark: number, isAbandoned: boolean])[] = [
    [0, 7, false],
    [59, 7, false],
    [1, 7, true],
    [1, 8, false],
    // A jump of the wall clock is no time.
    [59, 8, false],
    // The database of a backup counts from a lower number.
    [1, 3, false],
    [60, 3, true],
  ]
  for (const [passedMs, mark, isAbandoned] of steps) {
    time.pass(passedMs)
    time.jump(1_000_000)
    expect(watch.isAbandoned(mark)).toBe(isAbandoned)
  }
})

test('a sign is due at once, and once in each interval', () => {
  const time = new FakeTime(0)
  const watch = new LeaseWatch(time.clock, 60)
  const due = [0, 0, 14, 1, 20].map((passedMs) => {
    time.pass(passedMs)
    return watch.isBeatDue(15)
  })
  expect(due).toEqual([true, false, false, true, true])
})

test.each([
  ['', true],
  [holderOf('c1', 'before'), true],
  [holderOf('c10', 'before'), false],
  [holderOf('c2', 'c1 '), false],
])('what "%s" holds is free for the node c1: %s', (holder, isFree) => {
  expect(isFreeFor('c1', holder)).toBe(isFree)
})
