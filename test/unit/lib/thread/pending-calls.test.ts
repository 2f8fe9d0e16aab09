import { expect, test } from 'vitest'
import { PendingCalls } from '#lib/thread/pending-calls.ts'

test('answers calls by their numbers, in any order', async () => {
  const calls = new PendingCalls<string>(2)
  const sent: number[] = []
  const first = calls.add((id) => sent.push(id))
  const second = calls.add((id) => sent.push(id))
  expect(calls.isFull).toBe(true)
  calls.settle(sent[1]!, 'two')
  calls.settle(sent[0]!, 'one')
  expect(await Promise.all([first, second])).toEqual(['one', 'two'])
  expect(calls.size).toBe(0)
})

test('answers all calls when the thread has ended', async () => {
  const calls = new PendingCalls<string>(1)
  const call = calls.add(() => undefined)
  expect(() => calls.add(() => undefined)).toThrow('room')
  calls.abandon('gone')
  expect(await call).toBe('gone')
  expect(calls.isFull).toBe(false)
})

test('an answer to a call that was not made is a mistake of ours', () => {
  expect(() => new PendingCalls<string>(1).settle(1, 'one')).toThrow('call that was made')
})
