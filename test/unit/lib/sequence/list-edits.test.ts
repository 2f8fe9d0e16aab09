// How one list became the next.
import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { editsOf } from '#lib/sequence/list-edits.ts'

const items = Array.from({ length: 40 }, (_, i) => ({ i }))
const list = (text: string) => Array.from(text, (letter) => items[letter.charCodeAt(0) - 97]!)

describe('the edits of a list', () => {
  test.each([
    ['nothing changed', 'abc', 'abc', [], []],
    ['one came', 'abc', 'abxc', [], [2]],
    ['one came first', 'abc', 'xabc', [], [0]],
    ['one came last', 'abc', 'abcx', [], [3]],
    ['one went', 'abc', 'ac', [1], []],
    ['all went', 'abc', '', [0, 1, 2], []],
    ['one became another', 'abc', 'axc', [1], [1]],
    ['one moved: it went and came', 'abcd', 'bcad', [0], [2]],
    ['two places changed', 'abcdef', 'xbcdfy', [0, 4], [0, 5]],
  ])('%s', (_, before, now, went, came) => {
    expect(editsOf(list(before), list(now))).toMatchObject({ went, came })
  })

  test('are not looked for where lists have little in common', () => {
    expect(editsOf(items.slice(0, 10), items.slice(20))).toBeUndefined()
    expect(editsOf([], items)).toBeUndefined()
  })

  test('lead from one list to the other', () => {
    const some = fc.uniqueArray(fc.constantFrom(...items), { minLength: 1 })
    const cut = fc.record({ at: fc.nat(), went: fc.nat({ max: 3 }), came: fc.subarray(items) })
    let compared = 0
    fc.assert(
      fc.property(some, fc.array(cut, { maxLength: 3 }), (before, cuts) => {
        let now = before
        for (const { at, went, came } of cuts) {
          now = now.toSpliced(at % (now.length + 1), went, ...came.slice(0, 4))
        }
        const edits = editsOf(before, now)
        if (edits === undefined) return
        compared++
        const built: object[] = []
        for (const [at, to] of edits.moved.entries()) {
          expect(to < 0).toBe(edits.went.includes(at))
          if (to >= 0) built[to] = before[at]!
        }
        for (const i of edits.came) built[i] = now[i]!
        expect(built).toEqual(now)
      }),
      { numRuns: 200, seed: 1 },
    )
    // So many changes that no edit is found are the lesser part.
    expect(compared).toBeGreaterThan(100)
  })
})
