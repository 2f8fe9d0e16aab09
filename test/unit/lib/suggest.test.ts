import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { suggest } from '#lib/suggest.ts'

describe('the nearest known word', () => {
  const known = [
    'weight',
    'priority',
    'region',
    'port',
    'pool',
    'round-robin',
    'ipAddress',
    'httpPath',
  ]
  const rows: readonly [string, string, string | undefined][] = [
    ['has a letter more', 'weightt', 'weight'],
    ['has a letter less', 'prioity', 'priority'],
    ['has another letter', 'regian', 'region'],
    ['has two letters swapped', 'prot', 'port'],
    ['differs in case only', 'PORT', 'port'],
    ['is the word itself', 'pool', 'pool'],
    ['has a slip in each part', 'rond-robbin', 'round-robin'],
    ['is the rest of its first part', 'round', 'round-robin'],
    ['is the rest behind a few letters', 'prio', 'priority'],
    ['begins the name of a field', 'ip', 'ipAddress'],
    ['ends the name of a field', 'path', 'httpPath'],
    ['is not there for an end within a word', 'ath', undefined],
    ['is not there when nothing is near', 'timeout', undefined],
    ['is not there for a short word with two slips', 'xyol', undefined],
    ['is not there for nothing', '', undefined],
  ]
  test.each(rows)('%s: %j', (_title, typed, expected) => {
    expect(suggest(typed, known)).toBe(expected)
  })

  test('is the first of equals, in the order given', () => {
    expect(suggest('bat', ['cat', 'hat'])).toBe('cat')
  })

  test('is not there when nothing is known', () => {
    expect(suggest('port', [])).toBeUndefined()
  })

  test('is the closest, though a farther one comes first', () => {
    expect(suggest('intervalMz', ['intervals', 'intervalMs'])).toBe('intervalMs')
  })

  test('is found again after any one slip in a word of three letters or more', () => {
    const word = fc.string({ unit: fc.constantFrom(...'abcdefgh'), minLength: 3, maxLength: 12 })
    fc.assert(
      fc.property(
        word,
        fc.nat(),
        fc.constantFrom('drop', 'double', 'swap', 'other'),
        (text, at, slip) => {
          const i = at % text.length
          const [before, letter = '', after] = [text.slice(0, i), text[i], text.slice(i + 1)]
          const typed = {
            drop: before + after,
            double: before + letter + letter + after,
            swap: before + after.slice(0, 1) + letter + after.slice(1),
            other: `${before}z${after}`,
          }[slip]
          expect(suggest(typed, [text])).toBe(text)
        },
      ),
    )
  })
})
