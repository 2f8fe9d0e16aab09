import { execFileSync } from 'node:child_process'
import { expect, test } from 'vitest'
import { shellWord } from '#lib/text/shell-word.ts'

test.each(['/var/lib/gslbd', 'a b', "it's", '$HOME', '"', '`x`', ''])(
  'a shell takes %j as one word',
  (text) => {
    const printed = execFileSync('sh', ['-c', `printf '%s|' ${shellWord(text)}`])
    expect(printed.toString()).toBe(`${text}|`)
  },
)

test('a plain path stays as it is', () => {
  expect(shellWord('/var/lib/gslbd-1')).toBe('/var/lib/gslbd-1')
})
