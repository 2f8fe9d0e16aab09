// Threads start with the room that is said, and others with what they had before. In a process of
// its own: the flag is one for all threads.
import { execFileSync } from 'node:child_process'
import { expect, test } from 'vitest'

/** Prints megabytes of young generations, grown to their most, of threads started one by one. */
const script = `
  import { once } from 'node:events'
  import { Worker } from 'node:worker_threads'
  import { setSemiSpace, startWithSemiSpace } from '#lib/memory/semi-space.ts'

  const filling = \`
    let kept = []
    for (let i = 0; i < 1e6; i++) {
      kept.push({ i, text: [i] })
      if (kept.length > 50_000) kept = []
    }
    const spaces = require('node:v8').getHeapSpaceStatistics()
    const { space_size } = spaces.find((one) => one.space_name === 'new_space')
    require('node:worker_threads').parentPort.postMessage(Math.round(space_size / 2 ** 20))
  \`
  const start = () => new Worker(filling, { eval: true, execArgv: [] })
  const roomOf = async (thread) => {
    const [megabytes] = await once(thread, 'message')
    await thread.terminate()
    return megabytes
  }
  const fail = () => {
    throw new Error('no')
  }
  setSemiSpace(1)
  const own = await roomOf(startWithSemiSpace(4, start))
  const next = await roomOf(start())
  let error = ''
  try {
    startWithSemiSpace(8, fail)
  } catch ({ message }) {
    error = message
  }
  console.log(JSON.stringify({ own, next, error, last: await roomOf(start()) }))
`

const isSmall = (megabytes: number): boolean => megabytes > 0 && megabytes <= 2

test('a thread has the room that is said, and others have what they had', () => {
  const args = ['--input-type=module', '-e', script]
  const told = execFileSync(process.execPath, args, { encoding: 'utf8' })
  const { own, next, error, last } = JSON.parse(told) as Record<string, number | string>
  // Twice what is said; V8 may have given a page back just then.
  expect(own).toBeGreaterThan(4)
  expect(own).toBeLessThanOrEqual(8)
  expect([next, last]).toEqual([expect.toSatisfy(isSmall), expect.toSatisfy(isSmall)])
  expect(error).toBe('no')
})
