import { expect, test } from 'vitest'
import { noLongerThan } from '#lib/timer.ts'

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
