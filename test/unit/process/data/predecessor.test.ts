// A start that is called off leaves the process before it as it is.
import { expect, test } from 'vitest'
import { startCalledOff } from '#process/data/called-off.ts'
import { takeOverFrom } from '#process/data/predecessor.ts'
import { err, ok } from '#lib/result.ts'

/** Threads that get ready when `ready` resolves, beside a process that holds the data directory. */
function beside(ready: Promise<boolean>) {
  const calling = new AbortController()
  const happened: string[] = []
  let fault: string | null = 'another process holds it'
  const before = {
    letGo: () => {
      happened.push('let go')
      return Promise.resolve(ok(null))
    },
  }
  const parts = {
    node: { settled: () => ready, catchUp: () => void happened.push('catch up') },
    dataDir: { fault: () => fault, retry: () => (fault = null) },
    log: { info: () => undefined },
    calledOff: calling.signal,
  }
  return { calling, before, parts, happened }
}

test('the process before lets go when all threads are ready', async () => {
  const { before, parts, happened } = beside(Promise.resolve(true))
  expect(await takeOverFrom(before, parts)).toEqual(ok(null))
  expect(happened).toEqual(['let go', 'catch up'])
})

test.each([
  ['before threads start', true],
  ['while threads start', false],
])('a start that is called off %s lets it go on', async (_, isBefore) => {
  const { calling, before, parts, happened } = beside(new Promise(() => undefined))
  if (isBefore) calling.abort()
  const taken = takeOverFrom(before, parts)
  calling.abort()
  expect(await taken).toEqual(err(startCalledOff))
  expect(happened).toEqual([])
})

test('a start beside none is called off, too', async () => {
  const { calling, parts } = beside(Promise.resolve(true))
  expect(await takeOverFrom(null, parts)).toEqual(ok(null))
  calling.abort()
  expect(await takeOverFrom(null, parts)).toEqual(err(startCalledOff))
})
