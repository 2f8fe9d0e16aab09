import fc from 'fast-check'
import { expect, test } from 'vitest'
import { fairShare } from '#lib/sequence/fair-share.ts'

const keys = (prefix: string, count: number): string[] =>
  Array.from({ length: count }, (_, i) => `${prefix}${i}`)
const share = (questions: Record<string, string[]>, max: number): string =>
  [...fairShare(new Map(Object.entries(questions)), max)].toSorted().join(' ')

test.each([
  ['all where there is room', { a: ['a0', 'a1'], b: ['b0'] }, 9, 'a0 a1 b0'],
  ['the first of each where there is not', { a: keys('a', 9), b: keys('b', 9) }, 4, 'a0 a1 b0 b1'],
  ['what others do not need', { a: keys('a', 9), b: ['b0'] }, 4, 'a0 a1 a2 b0'],
  ['what is the same once', { a: ['x', 'a1'], b: ['x', 'b1'] }, 3, 'a1 b1 x'],
  ['nothing where nothing may be asked', { a: ['a0'] }, 0, ''],
  ['nothing where nobody asks', { a: [] }, 4, ''],
])('tenants have %s', (_what, questions, max, chosen) => {
  expect(share(questions, max)).toBe(chosen)
})

test('no tenant has two more than another that wants more', () => {
  const list = fc.uniqueArray(fc.nat(30), { maxLength: 20 })
  fc.assert(
    fc.property(fc.array(list, { minLength: 1, maxLength: 5 }), fc.nat(40), (lists, max) => {
      const own = lists.map((list, i) => [`t${i}`, list.map((n) => `${i}/${n}`)] as const)
      const chosen = fairShare(new Map(own), max)
      const all = own.flatMap(([, list]) => list)
      expect(chosen.size).toBe(Math.min(max, all.length))
      const counts = own.map(([, list]) => list.filter((key) => chosen.has(key)).length)
      for (const [i, [, list]] of own.entries()) {
        if (counts[i] === list.length) continue
        expect(Math.max(...counts) - counts[i]!).toBeLessThanOrEqual(1)
      }
    }),
    { numRuns: 200 },
  )
})
