import fc from 'fast-check'
import { expect, test } from 'vitest'
import { isSubstitution } from '#dns/rdata/naptr-substitution.ts'
import { rightSubstitutions, wrongSubstitutions } from '#test/support/dns/substitutions.ts'

test.each(rightSubstitutions)('"%s" is one', (text) => {
  expect(isSubstitution(text)).toBe(true)
})

test.each(wrongSubstitutions)('"%s" is none', (text) => {
  expect(isSubstitution(text)).toBe(false)
})

test('any text is one or none, and each one has three delimiters', () => {
  const part = fc.constantFrom(...'!!()[]{}*+?|^$\\\\1a,-:.i'.split(''))
  fc.assert(
    fc.property(fc.array(part, { maxLength: 255 }), (parts) => {
      const text = parts.join('')
      if (!isSubstitution(text) || text === '') return
      expect(text.split(text[0]!).length).toBeGreaterThanOrEqual(4)
    }),
  )
})

test('groups inside each other to the last octet take no time', () => {
  expect(isSubstitution(`!${'('.repeat(120)}a${')'.repeat(120)}!\\\\!`)).toBe(true)
  expect(isSubstitution(`!${'('.repeat(250)}!!`)).toBe(false)
})
