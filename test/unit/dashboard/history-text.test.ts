// Tests the dashboard's summary of a member's health over time.
import { expect, test } from 'vitest'
import { summaryOf, stretchText } from '#dashboard/health/history-text.ts'
import type { Stretch } from '#dashboard/health/history-text.ts'

const minuteMs = 60_000
const line = (...parts: readonly (readonly [string, number])[]): readonly Stretch[] => {
  let to = 0
  return parts.map(([state, minutes]) => {
    const from = to
    to += minutes * minuteMs
    return { from, to, state, reason: '', changes: 0 }
  })
}

test.each([
  [line(['up', 60]), 'up 100 %'],
  [line(['up', 45], ['down', 15]), 'up 75.0 %, down 1 time'],
  [line(['unprobed', 60]), 'not probed'],
  [line(['unknown', 30], ['unprobed', 30]), 'not probed'],
  [line(['unprobed', 30], ['up', 20], ['down', 10]), 'up 66.7 % of what is known, down 1 time'],
  [line(['unprobed', 30], ['maintenance', 10], ['unprobed', 20]), 'not probed'],
  [line(['unprobed', 30], ['down', 10], ['unprobed', 20]), 'not probed, down 1 time'],
  [line(['unprobed', 30], ['up', 20], ['maintenance', 10]), 'up 100 % of what is known'],
  [line(['unknown', 60]), 'nothing is known of this time'],
])('%j in a sentence', (stretches, words) => {
  expect(summaryOf(stretches, 60 * minuteMs)).toBe(words)
})

test('a stretch that nobody probed is not called up', () => {
  const [one] = line(['unprobed', 60])
  expect(stretchText(one!)).toMatch(/^not probed for 60 min from /)
})
