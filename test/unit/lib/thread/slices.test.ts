// Long work in slices: other work of the thread goes on meanwhile.
import { expect, test } from 'vitest'
import { inSlices } from '#lib/thread/slices.ts'

test('work that takes long lets others in after each slice, and gives its result', async () => {
  let nowMs = 0
  const clock = { nowMs: () => nowMs, monotonicMs: () => nowMs }
  const seen: number[] = []
  let steps = 0
  function* work(): Generator<undefined, string> {
    for (; steps < 20; steps++) {
      nowMs += 1
      yield
    }
    return 'done'
  }
  const others = (async () => {
    while (steps < 20) {
      seen.push(steps)
      await new Promise(setImmediate)
    }
  })()
  expect(await inSlices(work(), clock)).toBe('done')
  await others
  // Five milliseconds each: four times at least, and never in the middle of a slice.
  expect(new Set(seen.filter((at) => at > 0 && at < 20)).size).toBeGreaterThanOrEqual(3)
})
