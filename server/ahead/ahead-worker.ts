// The entry of the thread that signs before anybody asks.
import { parentPort, workerData } from 'node:worker_threads'
import { assert } from '#lib/assert.ts'
import { systemClock } from '#lib/clock.ts'
import { yieldToAnswers } from '#lib/thread/background-thread.ts'
import { AheadCell } from './ahead-cells.ts'
import { AheadWalk } from './ahead-walk.ts'
import type { AheadGeneration } from './ahead-walk.ts'

const main = parentPort
assert(main !== null, 'what signs ahead runs in a thread')
yieldToAnswers()
const cells = new Int32Array(workerData as SharedArrayBuffer)
const walk = new AheadWalk(systemClock)
let counted = 0
let timer: NodeJS.Timeout | undefined

main.on('message', (generation: AheadGeneration) => {
  walk.take(generation)
  Atomics.store(cells, AheadCell.Adopted, generation.number)
  next(0)
})

function turn(): void {
  const afterMs = walk.turn()
  // The new thread goes on where the one before it ended.
  Atomics.add(cells, AheadCell.Made, walk.made - counted)
  counted = walk.made
  Atomics.store(cells, AheadCell.LeftOut, walk.leftOut)
  next(afterMs)
}

function next(afterMs: number): void {
  clearTimeout(timer)
  timer = setTimeout(turn, afterMs)
}
