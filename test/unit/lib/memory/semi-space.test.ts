// Threads start with the room that is said, and others with what they had before.
import { once } from 'node:events'
import { Worker } from 'node:worker_threads'
import { afterAll, expect, test } from 'vitest'
import { setSemiSpace, startWithSemiSpace } from '#lib/memory/semi-space.ts'

/** Megabytes of the young generation after so much was made that it has grown to its most. */
const script = `
  const { parentPort } = require('node:worker_threads')
  let kept = []
  for (let i = 0; i < 1e6; i++) {
    kept.push({ i, text: [i] })
    if (kept.length > 50_000) kept = []
  }
  const spaces = require('node:v8').getHeapSpaceStatistics()
  parentPort.postMessage(spaces.find((one) => one.space_name === 'new_space').space_size / 2 ** 20)
`
const startThread = (): Worker => new Worker(script, { eval: true })
const roomOf = async (thread: Worker): Promise<number> => {
  const [megabytes] = (await once(thread, 'message')) as [number]
  await thread.terminate()
  return megabytes
}

// Other files run in this process, too.
afterAll(() => setSemiSpace(0))

test('a thread has the room that is said, and the next one what others have', async () => {
  setSemiSpace(1)
  expect(await roomOf(startWithSemiSpace(4, startThread))).toBeCloseTo(8, 0)
  expect(await roomOf(startThread())).toBeCloseTo(2, 0)
})

test('a thread that cannot be started leaves others as they were', async () => {
  setSemiSpace(1)
  const start = (): Worker => {
    throw new Error('no')
  }
  expect(() => startWithSemiSpace(8, start)).toThrow('no')
  expect(await roomOf(startThread())).toBeCloseTo(2, 0)
})
