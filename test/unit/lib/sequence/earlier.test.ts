import { expect, test } from 'vitest'
import { earlier } from '#lib/sequence/earlier.ts'

test('the first of a key is remembered, and given for each later one', () => {
  const known = new Map<string, number>()
  const found = [1, 2, 3, 4].map((one) => earlier(known, one === 3 ? 'b' : 'a', one))
  expect(found).toEqual([undefined, 1, undefined, 1])
  expect([...known]).toEqual([
    ['a', 1],
    ['b', 3],
  ])
})
