// The line of a value in the text of a JSON file.
import { expect, test } from 'vitest'
import { lineIn } from '#judge/clients/json-line.ts'

const text = [
  '{ "a": { "b": 1,',
  '  "c:\\"}": [ { "b": 2 } ] },',
  '  "\\\\": "{ \\"a\\": 1 }",',
  '  "a": {',
  '    "b": -1.5e3 } }',
].join('\n')

test.each<[keys: string[], line: number | undefined]>([
  [['a'], 4],
  [['a', 'b'], 5],
  [['a', 'c:"}'], 2],
  [['\\'], 3],
  [['b'], undefined],
  [['a', 'd'], undefined],
])('%j is in line %j', (keys, line) => {
  JSON.parse(text)
  expect(lineIn(text, keys)).toBe(line)
})

const long = 20_000_000
test.each([
  ['a key', `{ "${'k'.repeat(long)}": 0,\n"wrong": -1 }`],
  ['a key of escapes', `{ "${'\\\\'.repeat(long / 2)}": 0,\n"wrong": -1 }`],
  ['a text', `{ "a": "${'\\"'.repeat(long / 2)}",\n"wrong": -1 }`],
  ['a number', `{ "a": 1${'0'.repeat(long)},\n"wrong": -1 }`],
  ['an empty space', `{ "a": 1${' '.repeat(long)},\n"wrong": -1 }`],
])('%s of 20 MB is passed over', (_what, of) => {
  expect(lineIn(of, ['wrong'])).toBe(2)
})
