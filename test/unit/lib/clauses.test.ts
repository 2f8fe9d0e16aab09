// Clauses that are joined into a sentence.
import { expect, test } from 'vitest'
import { joinedClauses } from '#lib/clauses.ts'

test.each([
  [['one', 'two'], 'one; two'],
  [['One.', 'two.'], 'One; two.'],
  [['One. And more.', 'two', 'three'], 'One. And more; two; three'],
  [['one.', ''], 'one.'],
  [['', 'two'], 'two'],
  [[], ''],
])('%j is said as "%s"', (texts, said) => {
  expect(joinedClauses(...texts)).toBe(said)
})
