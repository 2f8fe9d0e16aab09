// The entry of the thread that signs before anybody asks. It gives the core away after each turn:
// where cores are counted by a quota, a lower priority alone would take time from answers.
import { parentPort, workerData } from 'node:worker_threads'
import { assert } from '#lib/assert.ts'
import { systemClock } from '#lib/clock.ts'
import { yieldToAnswers } from '#lib/thread/background-thread.ts'
import { AheadCell } from './ahead-cells.ts'
import { AheadWalk } from './ahead-walk.ts'
import type { AheadGeneration } from './ahead-walk.ts'

/** Half of a core at most while something is left to sign; then a look now and then. */
const turns = Object.freeze({ workMs: 10, restMs: 10, lookMs: 10_000 })
/** Between two looks at the clock. */
const stepsAtOnce = 16

const main = parentPort
assert(main !== null, 'what signs ahead runs in a thread')
yieldToAnswers()
const cells = new Int32Array(workerData as SharedArrayBuffer)
const walk = new AheadWalk()
let timer: NodeJS.Timeout | undefined

main.on('message', (generation: AheadGeneration) => {
  walk.take(generation)
  Atomics.store(cells, AheadCell.Adopted, generation.number)
  next(0)
})

function turn(): void {
  walk.look()
  const endMs = systemClock.monotonicMs() + turns.workMs
  let isLeft = true
  while (isLeft && systemClock.monotonicMs() < endMs) {
    for (let i = 0; i < stepsAtOnce && isLeft; i++) isLeft = walk.step()
  }
  Atomics.store(cells, AheadCell.Made, walk.made)
  Atomics.store(cells, AheadCell.LeftOut, walk.leftOut)
  next(isLeft ? turns.restMs : turns.lookMs)
}

function next(afterMs: number): void {
  clearTimeout(timer)
  timer = setTimeout(turn, afterMs)
}
