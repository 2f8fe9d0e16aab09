import { expect, test } from 'vitest'
import { warmUpJit } from '#runtime/threads/jit-warm-up.ts'

test.each([
  { takesMs: 0, runs: 100 },
  { takesMs: 10, runs: 5 },
  { takesMs: 400, runs: 1 },
])('a take-over of $takesMs ms is rehearsed $runs times', ({ takesMs, runs }) => {
  let ms = 1_000
  let ran = 0
  const takeOver = (): void => {
    ms += takesMs
    ran++
  }
  warmUpJit(takeOver, () => ms)
  expect(ran).toBe(runs)
})
