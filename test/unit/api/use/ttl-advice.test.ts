import { expect, test } from 'vitest'
import { adviseTtl } from '#api/use/ttl-advice.ts'

const month = 30 * 86_400

test.each([
  ['14 changes a month, an hour of TTL', 3_600, 14, month, true, 300],
  ['the same in a week: a shorter one still', 3_600, 14, 7 * 86_400, true, 60],
  ['so many that no TTL is short enough', 3_600, 50_000, month, true, 30],
  ['one that is as short as any', 30, 50_000, month, true, null],
  ['rare changes, an hour of TTL', 3_600, 2, month, true, null],
  ['the TTL fits', 300, 14, month, true, null],
  ['nothing changed; members are probed', 60, 0, month, true, null],
  ['nothing changed; each query comes again', 5, 0, month, true, 60],
  ['nothing changed, and nothing is probed', 60, 0, month, false, 3_600],
  ['a change, and nothing is probed', 60, 1, month, false, null],
  ['a day says nothing', 3_600, 14, 86_400, true, null],
])('%s', (_what, ttlSeconds, changes, windowSeconds, isProbed, advised) => {
  expect(adviseTtl({ ttlSeconds, changes, windowSeconds, isProbed })).toBe(advised)
})
