// A character of a text is found in the file, in whatever form YAML has it.
import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { Document, Scalar } from 'yaml'
import { readYaml } from '#compiler/yaml/document.ts'
import { placeInScalar } from '#compiler/yaml/scalar-place.ts'

const place = { path: ['a', 0], at: 'value' } as const

/** Returns the text at the first # of the value of `a[0]`, and its line. */
function found(text: string): readonly [string, number] {
  const document = readYaml(text)
  const [value] = (document.value as { a: readonly [string] }).a
  const { start } = document.spanOf({ ...place, character: value.indexOf('#') })
  return [text.slice(start, start + 2), text.slice(0, start).split('\n').length]
}

describe('in each form of a text', () => {
  test.each([
    ['plain', 'a: [ab#c]', '#c', 1],
    ['plain, over several lines', 'a:\n - one\n   two\n\n   th#ree', '#r', 5],
    ['single quotes', "a: ['it''s  #c']", '#c', 1],
    ['single quotes, over several lines', "a: ['one\n\n  it''s\n  #c']", '#c', 4],
    ['double quotes', 'a: ["\\"\\\\ #c"]', '#c', 1],
    ['double quotes with codes', 'a: ["\\u00e9\\x41\\U0001F600\\t #c"]', '#c', 1],
    ['double quotes and a sign that is escaped', 'a: ["x\\x23y"]', '\\x', 1],
    ['double quotes, over several lines', 'a: ["one\\n\n  two \\\n    \\  #c"]', '#c', 3],
    ['a block', 'a:\n - |\n   one\n\n     two\n   #c', '#c', 6],
    ['a block with a comment in its head', 'a:\n - |2- # no\n     one\n   #c', '#c', 4],
    ['a folded block', 'a:\n - >-\n   one\n   two\n\n     kept\n   #c', '#c', 7],
    ['lines that end in CRLF', 'a:\r\n - |\r\n   one\r\n   #c\r\n', '#c', 4],
  ])('%s', (_, text, sign, line) => {
    expect(found(text)).toEqual([sign, line])
  })
})

test('behind the last sign, the end is meant', () => {
  expect(placeInScalar('"ab "', 'ab ', 3)).toBe(3)
  expect(placeInScalar('|\n  ab\n', 'ab\n', 3)).toBe(6)
  expect(placeInScalar('""', '', 0)).toBe(0)
})

test('every sign is found, in every form that a text can take', () => {
  const sign = fc.constantFrom(...'abc\'"\\{}[]();:#|>&*! \n\t', ' ', '\n', 'é', '😀', '\u2028')
  const types = ['PLAIN', 'QUOTE_SINGLE', 'QUOTE_DOUBLE', 'BLOCK_LITERAL', 'BLOCK_FOLDED'] as const
  const texts = fc.string({ unit: sign, minLength: 1, maxLength: 120 })
  fc.assert(
    fc.property(texts, fc.constantFrom(...types), (value, type) => {
      const scalar = new Scalar(value)
      scalar.type = type
      const text = new Document({ a: [scalar] }).toString({ lineWidth: 20 })
      const document = readYaml(text)
      const [read] = (document.value as { a: readonly [unknown] }).a
      fc.pre(read === value)
      for (let character = 0; character < value.length; character++) {
        const unit = value[character]!
        if (/[\s"\\]/.test(unit)) continue
        const { start } = document.spanOf({ ...place, character })
        expect(text[start]).toBe(unit)
      }
    }),
  )
})
