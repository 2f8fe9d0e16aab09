import { expect, test } from 'vitest'
import { WaitList, noLongerThan } from '#lib/timer.ts'

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
