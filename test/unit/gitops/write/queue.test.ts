// Writes that wait for their turn, for as long as their clients do.
import { expect, test } from 'vitest'
import { apiLimits } from '#http/limits.ts'
import { gitLimits } from '#gitops/limits.ts'
import type { CommitResult } from '#config/operation.ts'
import { WriteQueue } from '#gitops/write/queue.ts'
import type { Pending } from '#gitops/write/select.ts'
import { Mutex } from '#lib/mutex.ts'
import { ok } from '#lib/result.ts'

const { writeMs, remoteLockPausesMs } = gitLimits
const written: CommitResult = ok({
  revision: 'c0ffee',
  isChanged: true,
  objects: [],
  warnings: [],
  affected: [],
})

/** A queue whose turn somebody else has until `free` is called. */
function blockedQueue() {
  const batches: number[] = []
  const mutex = new Mutex()
  let nowMs = 0
  let free = (): void => undefined
  void mutex.take(() => new Promise<void>((resolve) => (free = resolve)))
  const queue = new WriteQueue({
    clock: { nowMs: () => nowMs, monotonicMs: () => nowMs },
    takeTurn: (work) => mutex.take(work),
    write: async (batch) => {
      batches.push(batch.length)
      for (const { settle } of batch) settle(written)
    },
  })
  const add = (atMs: number, more: Partial<Pending['request']> = {}): Promise<CommitResult> => {
    nowMs = atMs
    return new Promise((settle) => {
      queue.add({ request: { operations: [], ...more } as unknown as Pending['request'], settle })
    })
  }
  const freeAt = (atMs: number): void => {
    nowMs = atMs
    free()
  }
  return { add, batches, freeAt }
}

test("writes that arrive during another's turn are written together", async () => {
  const { add, batches, freeAt } = blockedQueue()
  const results = [add(0), add(1), add(2)]
  await new Promise(setImmediate)
  freeAt(writeMs)
  expect(await Promise.all(results)).toEqual([written, written, written])
  expect(batches).toEqual([3])
})

test('a write that waited for too long is refused before anything is written', async () => {
  const { add, batches, freeAt } = blockedQueue()
  const results = [add(0), add(10), add(20)]
  await new Promise(setImmediate)
  freeAt(writeMs + 15)
  const [first, second, third] = await Promise.all(results)
  for (const late of [first, second]) {
    expect(late).toMatchObject({ ok: false, error: { code: 'busy' } })
    expect(late?.ok === false && late.error.message).toContain('was not made. Try again.')
  }
  expect(third).toEqual(written)
  expect(batches).toEqual([1])
})

test('time spent waiting for a plan shortens the wait in the queue', async () => {
  const { add, batches, freeAt } = blockedQueue()
  const results = [add(0, { waitedMs: writeMs - 10 }), add(0, { waitedMs: writeMs - 20 })]
  await new Promise(setImmediate)
  freeAt(15)
  expect(await Promise.all(results)).toMatchObject([{ error: { code: 'busy' } }, written])
  expect(batches).toEqual([1])
})

test('a write that keeps losing is answered before its request ends', () => {
  const lockMs = remoteLockPausesMs.reduce((sum, ms) => sum + ms, 0)
  expect(writeMs + lockMs).toBeLessThan(apiLimits.handlerTimeoutMs)
})

test('no write waits for many dry runs, and no more of them wait than fit', async () => {
  const { add, batches, freeAt } = blockedQueue()
  const { dryRunQueueMax, dryRunsPerTurn } = gitLimits
  const looks = Array.from({ length: dryRunQueueMax + 1 }, () => add(0, { isDryRun: true }))
  const write = add(0)
  await new Promise(setImmediate)
  freeAt(1)
  expect(await write).toEqual(written)
  expect(batches).toEqual([dryRunsPerTurn + 1])
  const results = await Promise.all(looks)
  expect(results.filter(({ ok: isOk }) => isOk)).toHaveLength(dryRunQueueMax)
  expect(results.at(-1)).toMatchObject({ ok: false, error: { code: 'busy' } })
  expect(batches.reduce((sum, length) => sum + length)).toBe(dryRunQueueMax + 1)
})

test('a write that comes at any moment around the end of another is made', async () => {
  for (let moment = 0; moment < 20; moment++) {
    const { add, freeAt } = blockedQueue()
    let isMade = false
    const next = add(0).then(async () => {
      for (let i = 0; i < moment; i++) await Promise.resolve()
      await add(0)
      isMade = true
    })
    await new Promise(setImmediate)
    freeAt(0)
    for (let i = 0; i < 10 && !isMade; i++) await new Promise(setImmediate)
    expect([moment, isMade]).toEqual([moment, true])
    await next
  }
})
