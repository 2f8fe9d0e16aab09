import { expect, test } from 'vitest'
import { backoffMs } from '#lib/backoff.ts'

const backoff = { firstMs: 10, mostMs: 5_000 }

test.each([
  [1, 10],
  [2, 20],
  [3, 40],
  [9, 2_560],
  [10, 5_000],
  [1_000_000, 5_000],
])('after %i failures in a row the pause is %i ms', (failures, expected) => {
  expect(backoffMs(backoff, failures)).toBe(expected)
})
