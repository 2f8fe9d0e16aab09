import { expect, test } from 'vitest'
import { firstOf, firstOrNone } from '#lib/text/first-of.ts'

test.each([
  [[], 2, '', 'none'],
  [['a', 'b'], 2, 'a, b', 'a, b'],
  [['a', 'b', 'c'], 2, 'a, b and 1 more', 'a, b and 1 more'],
])('%j with at most %d names reads "%s"', (texts, most, text, orNone) => {
  expect(firstOf(texts, most)).toBe(text)
  expect(firstOrNone(texts, most)).toBe(orNone)
})
