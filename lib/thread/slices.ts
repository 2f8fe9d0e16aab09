// Runs long work on a thread that has other work, in slices of time.
import { setImmediate } from 'node:timers/promises'
import type { Clock } from '#lib/clock.ts'

/** Work yields where it may pause, after so many items that cost microseconds each. */
export const itemsPerStep = 256

const sliceMs = 5

export async function inSlices<T>(work: Generator<undefined, T>, clock: Clock): Promise<T> {
  for (;;) {
    const endMs = clock.monotonicMs() + sliceMs
    do {
      const step = work.next()
      if (step.done === true) return step.value
    } while (clock.monotonicMs() < endMs)
    await setImmediate()
  }
}
