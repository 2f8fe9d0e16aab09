// Few batches are timed, and each query of such a batch counts in the class of its time.
import { expect, test } from 'vitest'
import { BatchTimer, timedEvery } from '#answer/counters/batch-timer.ts'
import { Counters } from '#answer/counters/counters.ts'
import { listSource } from '#test/support/memory-source.ts'

const source = listSource([])

/** @returns how many queries are in which class, as a text */
function classesAfter(elapsedMs: number, batches: number): string {
  const counters = new Counters(new SharedArrayBuffer(Counters.bytes))
  let nowMs = 1_000
  const timer = new BatchTimer(counters, () => nowMs)
  for (let batch = 0; batch < batches; batch++) {
    timer.begin(source, 3)
    nowMs += elapsedMs
    timer.end(3)
  }
  const { classes, sumMs } = counters.snapshot().times
  const filled = classes.filter(({ count }) => count > 0)
  return `${filled.map(({ uptoMs, count }) => `${count} to ${uptoMs}`).join()}, ${sumMs} ms`
}

test.each([
  [0.125, 1, '3 to 0.25, 0.375 ms'],
  [0.25, 1, '3 to 0.25, 0.75 ms'],
  [50, 1, '3 to 50, 150 ms'],
  [51, 1, '3 to Infinity, 153 ms'],
  [1, timedEvery, '3 to 1, 3 ms'],
  [1, timedEvery + 1, '6 to 1, 6 ms'],
])('%d ms, %i batches: %s', (elapsedMs, batches, expected) => {
  expect(classesAfter(elapsedMs, batches)).toBe(expected)
})
