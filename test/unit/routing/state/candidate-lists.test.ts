// Lists of candidates have a number each, the same from query to query.
import { expect, test } from 'vitest'
import { CandidateLists } from '#routing/state/candidate-lists.ts'
import type { CandidateList } from '#routing/state/candidate-lists.ts'

const listOf = (members: readonly number[], answerCount = 1): CandidateList => ({
  members: Uint32Array.from(members),
  count: members.length,
  answerCount,
})
const many = Array.from({ length: 4_096 }, (_, i) => i)

test.each([2, 64, 65, 4_096])(
  'a list of %s has another number when anything is another',
  (count) => {
    const lists = new CandidateLists()
    const members = many.slice(0, count)
    const number = lists.numberOf(listOf(members), 1)
    const others = [
      lists.numberOf(listOf(members), 2),
      lists.numberOf(listOf(members, 2), 1),
      lists.numberOf(listOf(members.slice(1)), 1),
      lists.numberOf(listOf([...members].reverse()), 1),
      lists.numberOf(listOf(members.with(-1, 9_999)), 1),
    ]
    expect(new Set([number, ...others]).size).toBe(6)
    expect(lists.numberOf(listOf(members), 1)).toBe(number)
  },
)

test('a list that gave way to others, or was forgotten, gets a number that none had', () => {
  const lists = new CandidateLists()
  const seen = new Set<number>()
  const one = listOf([70_000, 70_001])
  seen.add(lists.numberOf(one, 1))
  for (let i = 0; i < 20_000; i++) seen.add(lists.numberOf(listOf([i, i + 1]), 1))
  expect(seen.size).toBe(20_001)
  expect(seen.has(lists.numberOf(one, 1))).toBe(false)
  const last = lists.numberOf(one, 1)
  lists.clear()
  expect(lists.numberOf(one, 1)).toBe(last + 1)
})

test('a hundred lists and more are all kept', () => {
  const lists = new CandidateLists()
  const numbers = (): number[] =>
    Array.from({ length: 150 }, (_, i) => lists.numberOf(listOf([i * 4, i * 4 + 1, i * 4 + 3]), 7))
  expect(numbers()).toEqual(numbers())
})
