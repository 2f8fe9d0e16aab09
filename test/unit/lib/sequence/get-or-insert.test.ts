import { expect, test } from 'vitest'
import { getOrInsert } from '#lib/sequence/get-or-insert.ts'

test('a list is made for the first value of a key, and has the later ones', () => {
  const lists = new Map<string, number[]>()
  for (const [i, key] of ['a', 'b', 'a'].entries()) getOrInsert(lists, key, () => []).push(i)
  expect([...lists]).toEqual([
    ['a', [0, 2]],
    ['b', [1]],
  ])
})
