import { expect, test } from 'vitest'
import type { Libc } from '#system/sockets/libc.ts'
import { Control, controlBytes, controlCell } from '#server/threads/responder-control.ts'
import { Waker } from '#server/threads/waker.ts'

/** @returns whom each wake has reached */
function wakes(threadIds: readonly number[], adopted: readonly number[], count: number): number[] {
  const cells = new Int32Array(new SharedArrayBuffer(controlBytes(threadIds.length)))
  for (const [i, id] of threadIds.entries()) {
    cells[controlCell(i, Control.ThreadId)] = id
    cells[controlCell(i, Control.Adopted)] = adopted[i]!
  }
  const woken: number[] = []
  const signalThread = (threadId: number): number => woken.push(threadId) && 0
  const waker = new Waker({ signalThread } as Partial<Libc> as Libc, cells, threadIds.length)
  for (let i = 0; i < count; i++) waker.wakeNext(7)
  return woken
}

test('each wake is for the next thread that is behind', () => {
  expect(wakes([11, 12, 13], [6, 7, 6], 3)).toEqual([11, 13, 11])
})

test('no wake is lost on a place without a thread', () => {
  expect(wakes([0, 0, 13, 0, 15], [0, 0, 6, 0, 6], 3)).toEqual([13, 15, 13])
})

test('no thread is woken where none is behind', () => {
  expect(wakes([11, 0], [7, 0], 2)).toEqual([])
})
