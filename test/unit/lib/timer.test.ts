import { expect, test } from 'vitest'
import { Rarely, WaitList, noLongerThan } from '#lib/timer.ts'
import { FakeTime } from '#test/support/fake-time.ts'

test('work that ends is waited for, however it ends', async () => {
  let isOver = false
  await noLongerThan(
    60_000,
    Promise.resolve().then(() => void (isOver = true)),
  )
  expect(isOver).toBe(true)
  await expect(noLongerThan(60_000, Promise.reject(new Error('no')))).rejects.toThrow('no')
})

test('work that does not end is not waited for', async () => {
  await noLongerThan(1, new Promise(() => undefined))
})

test('news wakes all that wait for it, and nobody twice', async () => {
  const list = new WaitList()
  const woken = Promise.all([list.wait(600_000), list.wait(600_000)])
  expect(list.size).toBe(2)
  list.wakeAll()
  await woken
  expect(list.size).toBe(0)
})

test('a caller that has waited long enough goes on without news, and is forgotten', async () => {
  const list = new WaitList()
  await list.wait(1)
  expect(list.size).toBe(0)
})

test('what is new is said at once, then all of a period together, the last one too', () => {
  const time = new FakeTime(0)
  const said: string[] = []
  const rarely = new Rarely(time.after, 60_000, (times) => {
    said.push(`${time.clock.nowMs() / 1_000} s: ${times}`)
  })
  rarely.note()
  expect(said).toEqual(['0 s: 1'])
  for (let second = 1; second <= 90; second++) {
    time.pass(1_000)
    rarely.note()
  }
  time.pass(600_000)
  expect(said).toEqual(['0 s: 1', '60 s: 59', '120 s: 31'])
  rarely.note()
  expect(said.at(-1)).toBe('690 s: 1')
  rarely.note()
  rarely.stop()
  time.pass(600_000)
  expect(said).toHaveLength(4)
})
