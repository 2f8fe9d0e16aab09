import fc from 'fast-check'
import { expect, test } from 'vitest'
import { AhoCorasick } from '#routing/tables/aho-corasick.ts'

function found(parts: readonly string[], text: string): number[] {
  const positions = new Set<number>()
  new AhoCorasick(parts).addFound(text, positions)
  return [...positions].sort((a, b) => a - b)
}

test.each<[string, string[], string, number[]]>([
  ['no parts', [], 'anything', []],
  ['nothing to search', ['a'], '', []],
  ['a part inside another one', ['he', 'she', 'hers', 'his'], 'ushers', [0, 1, 2]],
  ['a part at the end of a longer one that fails', ['abcd', 'bc'], 'abce', [1]],
  ['the whole text', ['telecom'], 'telecom', [0]],
  ['more than the text', ['telecoms'], 'telecom', []],
  ['the same part twice', ['net', 'net'], 'internet', [0, 1]],
  ['beyond the letters of one octet', ['ö', '通信', '😀'], 'öst 中国通信 😀', [0, 1, 2]],
])('%s', (_title, parts, text, positions) => {
  expect(found(parts, text)).toEqual(positions)
})

test('finds what looking for each part by itself finds', () => {
  const word = fc.string({ unit: fc.constantFrom('a', 'b', 'c'), maxLength: 5, minLength: 1 })
  const text = fc.string({ unit: fc.constantFrom('a', 'b', 'c', ' '), maxLength: 40 })
  fc.assert(
    fc.property(fc.array(word, { maxLength: 12 }), text, (parts, searched) => {
      const expected = parts.flatMap((part, i) => (searched.includes(part) ? [i] : []))
      expect(found(parts, searched)).toEqual(expected)
    }),
    { numRuns: 2_000 },
  )
})
