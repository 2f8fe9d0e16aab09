import fc from 'fast-check'
import { expect, test } from 'vitest'
import { commonPrefixSuffix } from '#lib/sequence/prefix-suffix.ts'

/** Octet by octet. */
function plainly(a: Uint8Array, b: Uint8Array): ReturnType<typeof commonPrefixSuffix> {
  const shorter = Math.min(a.length, b.length)
  let [prefix, suffix] = [0, 0]
  while (prefix < shorter && a[prefix] === b[prefix]) prefix++
  while (suffix < shorter && a.at(-1 - suffix) === b.at(-1 - suffix)) suffix++
  return { prefix, suffix }
}

test.each<[string, string, string, number, number]>([
  ['nothing and nothing', '', '', 0, 0],
  ['nothing and something', '', 'a', 0, 0],
  ['the same', 'abc', 'abc', 3, 3],
  ['one the end of the other', 'bc', 'abc', 0, 2],
  ['one the start of the other', 'ab', 'abc', 2, 0],
  ['other octets in the middle', 'a-c', 'a+c', 1, 1],
  ['a repetition, so that the ends overlap', 'aa', 'aaa', 2, 2],
])('the ends of %s that are the same', (_, a, b, prefix, suffix) => {
  expect(commonPrefixSuffix(Buffer.from(a), Buffer.from(b))).toEqual({ prefix, suffix })
})

test('prefix and suffix of many octets equal those found octet by octet', () => {
  const size = fc.integer({ min: 0, max: 100_000 })
  const piece = fc.uint8Array({ maxLength: 3, max: 1 })
  fc.assert(
    fc.property(size, size, piece, piece, (before, after, left, right) => {
      const around = (middle: Uint8Array): Uint8Array =>
        Buffer.concat([Buffer.alloc(before, 1), middle, Buffer.alloc(after, 1)])
      const [a, b] = [around(left), around(right)]
      expect(commonPrefixSuffix(a, b)).toEqual(plainly(a, b))
    }),
    { numRuns: 100 },
  )
})
