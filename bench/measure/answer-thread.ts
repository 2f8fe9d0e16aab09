// A thread that answers all kinds of queries for a while, and reports its rate. Started by the
// benchmark `threads`: sends `warm`, waits for a message, replies with the rate per second.
import { parentPort, workerData } from 'node:worker_threads'
import type { Generation } from '#answer/serving-view.ts'
import { AnswerLoop, queryKinds } from '../data/answer-mix.ts'

export interface ThreadStart {
  readonly generation: Generation
  readonly seed: number
  readonly durationMs: number
}

const { generation, seed, durationMs } = workerData as ThreadStart
const loop = new AnswerLoop(generation, seed)
const timesEach = 100

function round(): void {
  for (const { query } of queryKinds) loop.run(query, timesEach)
}

for (let i = 0; i < 200; i++) round()
parentPort?.once('message', () => {
  const startedMs = performance.now()
  let rounds = 0
  while (performance.now() - startedMs < durationMs) {
    round()
    rounds++
  }
  const seconds = (performance.now() - startedMs) / 1_000
  parentPort?.postMessage((rounds * timesEach * queryKinds.length) / seconds)
})
parentPort?.postMessage('warm')
