import { expect, test } from 'vitest'
import { JitWarmUp } from '#server/threads/jit-warm-up.ts'

test.each([
  { takesMs: 0, runs: 100 },
  { takesMs: 10, runs: 5 },
  { takesMs: 400, runs: 1 },
])('a take-over of $takesMs ms is rehearsed $runs times, in any steps', ({ takesMs, runs }) => {
  for (const count of [1, 3, 1_000]) {
    let ms = 1_000
    let [ran, ended] = [0, 0]
    const takeOver = (): void => {
      ms += takesMs
      ran++
    }
    const warmUp = new JitWarmUp(
      takeOver,
      () => ended++,
      () => ms,
    )
    expect(warmUp.isOver).toBe(false)
    for (let step = 0; step < 200; step++) warmUp.step(count)
    expect([ran, ended, warmUp.isOver]).toEqual([runs, 1, true])
  }
})
