// Tests that no text makes a pattern of schemas slow, and what a name may be.
import { expect, test } from 'vitest'
import { namePattern, patternAdvice } from '#lib/text/patterns.ts'
import { cpuMsOf } from '#test/support/cpu-time.ts'

// Validators look at the pattern of a text that is too long, too.
test.each(Object.keys(patternAdvice))(
  'a long text takes time that grows with its length, and no faster: %s',
  async (pattern) => {
    const fits = new RegExp(pattern, 'u')
    const parts = ['a', ' ', 'a ', '/', 'a=a&', 'a.', '1', '!', 'A+', '*']
    const begins = ['', 'a', '/', 'http://', 'pool:', 'a?', '257 3 13 ']
    const texts = begins.flatMap((begin) =>
      parts.map((part) => `${begin}${part.repeat(20_000 / part.length)}\u0001`),
    )
    // Some milliseconds; with the square of the length it is half a second for one of them.
    expect(await cpuMsOf(() => texts.map((text) => fits.test(text)))).toBeLessThan(400)
  },
)

test.each([
  ['', true],
  ['a', true],
  [' a b ', true],
  ['\u00a0\u3042', true],
  [' ', false],
  ['\u00a0\u2003', false],
  ['a\u0001', false],
  ['\ta', false],
  [' \u202ea', false],
])('%j is a name: %s', (text, isName) => {
  for (const flag of ['', 'u', 'v']) {
    expect(new RegExp(namePattern, flag).test(text)).toBe(isName)
  }
})
