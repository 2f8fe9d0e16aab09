// The check of script bodies where nesting breaks more than the script.
import { once } from 'node:events'
import { Worker } from 'node:worker_threads'
import { expect, test } from 'vitest'

const deep = '('.repeat(60_000)
const good = 'result = []'
const tooDeep = 'it is nested too deeply'
const unread = 'it was not read, since two others of these files are nested too deeply'

test.each([
  // As Node makes threads: the engine ends the body, and nothing of it is left.
  [4, [deep, good, deep, good, deep], ['stack overflow', 'fine', 'stack overflow', 'fine']],
  // The engine ends with the body: there are two, until another one is made.
  [0.5, [deep, good, good], [tooDeep, 'fine', 'fine']],
  [0.5, [good, deep, deep, good], ['fine', tooDeep, tooDeep, unread]],
])('with a stack of %d MiB', async (stackSizeMb, bodies, expected) => {
  const worker = new Worker(new URL('../../../support/script-check.ts', import.meta.url), {
    resourceLimits: { stackSizeMb },
    workerData: bodies,
  })
  const [said] = (await once(worker, 'message')) as [string[]]
  expect(said.slice(0, expected.length)).toEqual(expected)
})
