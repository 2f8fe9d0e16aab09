import { expect, test } from 'vitest'
import { median, medianInterval, percentile, range } from '#bench/support/statistics.ts'

test.each([
  ['an odd count: the middle one', [9, 1, 5], 5],
  ['an even count: between the two in the middle', [4, 1, 10, 2], 3],
  ['numbers are not compared as words', [10, 9, 100], 10],
  ['one', [7], 7],
  ['nothing', [], Number.NaN],
])('the median of %s', (_, values, expected) => {
  expect(median(values)).toBe(expected)
})

// Ranks from tables of the sign test at 95 %.
test.each([
  [1, 1, 1],
  [5, 1, 5],
  [6, 1, 6],
  [9, 2, 8],
  [10, 2, 9],
  [24, 7, 18],
  [100, 40, 61],
])('the median of %i values lies between the %i. and the %i., 95 %% sure', (n, least, most) => {
  const values = Array.from({ length: n }, (_, i) => n - i)
  expect(medianInterval(values)).toEqual([least, most])
})

const hundred = Array.from({ length: 100 }, (_, i) => 100 - i)

test.each([
  [50, hundred, 50],
  [99, hundred, 99],
  [100, hundred, 100],
  [99.9, hundred, 100],
  [1, hundred, 1],
  [99, [3], 3],
  [99, [], Number.NaN],
])('percentile %s is the nearest rank', (percent, values, expected) => {
  expect(percentile(values, percent)).toBe(expected)
})

test('percentiles of many values do not need them on the stack', () => {
  const many = Array.from({ length: 500_000 }, (_, i) => i)
  expect(percentile(many, 99)).toBe(494_999)
})

test('a range shows the least and the greatest, and negative ones stay readable', () => {
  expect(range([2.26, -1, 0], 1)).toBe('-1.0..2.3')
  expect(range([], 1)).toBe('-')
})

test('statistics leave their values in order', () => {
  const values = [3, 1, 2]
  median(values)
  percentile(values, 50)
  expect(values).toEqual([3, 1, 2])
})
