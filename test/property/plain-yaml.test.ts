import fc from 'fast-check'
import { globSync, readFileSync } from 'node:fs'
import { expect, test } from 'vitest'
import { readWithPlaces } from '#compiler/yaml/document.ts'
import { jsonLines, jsonLinesValue } from '#compiler/yaml/parse/json-lines.ts'
import { plainValue } from '#compiler/yaml/parse/plain.ts'
import { laneCount } from '#test/support/lane.ts'

const root = `${import.meta.dirname}/../..`
const written = globSync('{examples,test/fixtures,test/golden}/**/*.yaml', { cwd: root }).map(
  (path) => readFileSync(`${root}/${path}`, 'utf8'),
)

/** What YAML has, and what looks like it. */
const scalars = [
  ...['a', 'b c', '1', '01', '-0', '1.5', '5.', '0x1F', '1e3', '9'.repeat(400), '.inf', '~', ''],
  ...['true', 'No', 'null', '2026-01-01', '10.0.0.1', '2001:db8::1', '"q, r"', "'it''s'", '"\\n"'],
  ...['"\\ud800"', '"a\n  b"', 'a\n  b', 'a\n\n  b', '- x', '-', '?', '? a', 'x:y', 'a#b', '"a"#b'],
  ...['|1\n  ', '>2-\n   \n', '|+\n  ', '  ---\nk: 1', ' --- # c'],
  ...['*a', '&a b', '!t b', '@', '%', '[a: b]', '{ p:443 }', '|\n   a\n  b', '>-\n  a\n\n   b\n c'],
]
const gaps = [
  '\n',
  '\n  ',
  '\n    ',
  '\n- ',
  '\n  - ',
  ' ',
  ': ',
  ':',
  ':\n  ',
  ':\n- ',
  ', ',
  ' # c\n',
]
const odd = [
  '\r\n',
  '\t',
  '\n---\n',
  '\n...\n',
  '<<: ',
  '\u00a0',
  '\u2028',
  '\ufeff',
  '"',
  "'",
  '[',
  '}',
]
const soup = fc
  .array(fc.constantFrom(...scalars, ...gaps, ...gaps, ...odd), { maxLength: 16 })
  .map((parts) => parts.join(''))

/** Most of them are YAML. */
const { flow } = fc.letrec<{ flow: string }>((tie) => {
  const blank = fc.constantFrom('', ' ', ' ', '\n    ', ' # c\n     ')
  const item = fc.tuple(blank, tie('flow'), blank).map((parts) => parts.join(''))
  const key = fc.constantFrom('a', '"b"', 'c d', '1', '', '[k]', 'toString')
  const pair = fc.tuple(blank, key, fc.constantFrom(': ', ':', ''), item)
  const end = fc.constantFrom('', ',', ' , ')
  return {
    flow: fc.oneof(
      { depthSize: 'small' },
      fc.constantFrom(...scalars),
      fc.tuple(fc.array(item, { maxLength: 3 }), end).map(([all, e]) => `[${all.join()}${e}]`),
      fc
        .tuple(fc.array(pair, { maxLength: 3 }), end)
        .map(([all, e]) => `{${all.map((parts) => parts.join('')).join()}${e}}`),
    ),
  }
})
const block = fc
  .array(fc.tuple(fc.constantFrom('a: ', 'b:\n  - ', 'c:\n  d: ', '"e" : ', ''), flow))
  .map((lines) => lines.map((parts) => parts.join('')).join('\n'))

const cut = fc
  .tuple(fc.constantFrom(...written), fc.nat(), fc.nat(9), fc.constantFrom(...scalars, ...odd))
  .map(([text, seed, length, put]) => {
    const at = seed % (text.length + 1)
    return text.slice(0, at) + put + text.slice(at + length)
  })

const jsonObject = fc.dictionary(
  fc.oneof(fc.constantFrom('name', '', '1', 'a:', '<<', '__proto__', 'x'.repeat(101)), fc.string()),
  fc.oneof(
    fc.jsonValue({ depthSize: 'small' }),
    fc.constantFrom('},{"name":', '[{"name":', '\\u0041', ' '.repeat(200)),
    fc.array(fc.record({ name: fc.string(), values: fc.array(fc.jsonValue()) })),
  ),
)
const jsonText = fc
  .tuple(jsonObject, fc.nat(), fc.nat(3), fc.constantFrom('', '', '', ' ', '"a":1,', ',', '\\/'))
  .map(([value, seed, length, put]) => {
    const text = jsonLines(value)
    const at = put === '' ? text.length : seed % text.length
    return text.slice(0, at) + put + text.slice(at + length)
  })

function expectSame(text: string): void {
  const plain = plainValue(text)
  if (plain === undefined) return
  const { value, findings, isWhole } = readWithPlaces(text)
  expect(findings).toEqual([])
  expect(isWhole).toBe(true)
  expect(plain).toStrictEqual(value)
}

test('plain values equal those of the parser that keeps places', () => {
  for (const text of written) expectSame(text)
  const texts = fc.oneof(soup, block, cut, jsonText)
  fc.assert(fc.property(texts, expectSame), { numRuns: laneCount(30_000, 2_000) })
})

test('examples are read as plain values, each of them', () => {
  const texts = globSync('examples/**/*.yaml', { cwd: root })
  expect(texts.length).toBeGreaterThan(20)
  for (const path of texts) {
    expect(plainValue(readFileSync(`${root}/${path}`, 'utf8')), path).toBeDefined()
  }
})

const rows = {
  a: 1,
  list: [
    { name: 'x },{"name":', n: [] },
    { name: '\\"', n: [null, -1.5e-9] },
  ],
}

test('printed JSON has a line for each item, and is read as JSON', () => {
  const text = jsonLines(rows)
  expect(text.split('\n')).toHaveLength(4)
  expect(jsonLinesValue(text)).toStrictEqual(rows)
  expect(readWithPlaces(text).value).toStrictEqual(rows)
})

test('signs of nesting inside a text are none', () => {
  const text = jsonLines({ '[[[[\\"[[[[': '{"[[\\'.repeat(40) })
  expect(jsonLinesValue(text)).toStrictEqual(readWithPlaces(text).value)
})

test.each([
  ['a key twice', '{"a":1,"a":1}\n'],
  ['other blanks', '{"a": 1}\n'],
  ['numbers in another form', '{"a":1.0}\n'],
  ['escapes that need none', '{"a":"\\u0041\\/"}\n'],
  ['half of an object', '{"a":1\n'],
  ['more than an object', '{"a":1}\n{"a":1}\n'],
  ['deep nesting', `{"a":${'['.repeat(16)}${']'.repeat(16)}}\n`],
  [
    'deep nesting of keys that are numbers',
    `{"a":${'{"1":'.repeat(9_000)}1${'}'.repeat(9_000)}}\n`,
  ],
  ['deep nesting behind a quote', `{"\\"":${'{"toJSON":'.repeat(9_000)}1${'}'.repeat(9_000)}}\n`],
  ['more pieces than a file may have', jsonLines({ a: Array.from({ length: 117_000 }, () => 1) })],
])('a text in another form is not read as JSON: %s', (_, text) => {
  expect(jsonLinesValue(text)).toBeUndefined()
})

/** Each is good YAML, or nearly so, and says something that needs its place, or another reader. */
const doubtful = [
  ...['a: 1\na: 2', 'a: &x 1', 'a: *x', 'a: !!str 1', '<<: {}', '1: a', '? a\n: b', '[a]: b'],
  ...['a: 1\n---\nb: 2', '%YAML 1.1\n---\na: 1', 'a: 1e999', 'a: 0o17', 'a: "\\ud800"', '- a', ''],
  ...[
    '  ---\na: 1',
    ' --- # c\na: 1',
    'a: |1\n  \n',
    'a: >-2\n   \n',
    'a: |+\n  ',
    "a:\n- 'b'c: d",
    'a:\n- [b]c: d',
    "a:\n- - 'b'- c",
  ],
  ...[`a: ${'9'.repeat(400)}`, '{ port:443 }', 'a:\tb', `a${' '.repeat(1100)}: b`, '__proto__: 1'],
  ...[`a: ${'['.repeat(20)}${']'.repeat(20)}`, `a: [${'[],'.repeat(90_000)}]`],
]
test.each(doubtful.map((text) => [text.slice(0, 24), text]))(
  'is left to the parser that keeps places: %j',
  (_, text) => {
    expect(plainValue(text)).toBeUndefined()
  },
)

test('a number of any length with a letter behind it costs as much as other text', () => {
  const text = `${'9'.repeat(1_000_000)}x`
  expect(plainValue(`a: ${text}`)).toEqual({ a: text })
})
