import fc from 'fast-check'
import { expect, test } from 'vitest'
import { SteadyList } from '#lib/sequence/steady-list.ts'

function listOf<T>(steady: SteadyList<T>, items: readonly T[]): readonly T[] {
  for (const item of items) steady.add(item)
  return steady.take()
}

test.each([
  ['nothing', [], [], true],
  ['the same', ['a', 'b'], ['a', 'b'], true],
  ['another item', ['a', 'b'], ['a', 'c'], false],
  ['one more', ['a'], ['a', 'b'], false],
  ['one less', ['a', 'b'], ['a'], false],
  ['nothing any more', ['a'], [], false],
])('the list is the same object only if unchanged: %s: %#', (_, before, now, isSame) => {
  const steady = new SteadyList<string>()
  const first = listOf(steady, before)
  const second = listOf(steady, now)
  expect(second).toEqual(now)
  expect(second === first).toBe(isSame)
  expect(first).toEqual(before)
})

test('a list that came to nothing is not part of the next one', () => {
  const steady = new SteadyList<string>()
  const first = listOf(steady, ['a'])
  steady.add('b')
  steady.begin()
  expect(listOf(steady, ['a'])).toBe(first)
})

test('each list has the items that were added, and keeps them', () => {
  const lists = fc.array(fc.array(fc.integer({ min: 0, max: 3 }), { maxLength: 6 }))
  fc.assert(
    fc.property(lists, (all) => {
      const steady = new SteadyList<number>()
      expect(all.map((items) => listOf(steady, items))).toEqual(all)
    }),
  )
})
