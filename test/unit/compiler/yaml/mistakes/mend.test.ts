// Mended text: what is found, where it is in the original, and that it ends for any text.
import fc from 'fast-check'
import { expect, test } from 'vitest'
import { piecesMax } from '#compiler/yaml/parse/parse.ts'
import { readMended } from '#compiler/yaml/mistakes/mend.ts'
import { readYaml } from '#compiler/yaml/document.ts'
import { copyAndOriginal } from '#compiler/rules/tree/unique.ts'
import type { LocalFinding } from '#diagnostics/finding.ts'
import type { Entry } from '#compiler/tree/tree.ts'
import { laneCount, onlyLong } from '#test/support/lane.ts'

const codesOf = (text: string): string[] => readMended(text).findings.map(({ code }) => code)

test('a text without mistakes is read as it is', () => {
  const text = 'name: "a: b"\nnote: |\n  don\'t "worry\n  <<<<<<< HEAD\nlong: "one\n  two"\n'
  const { text: read, findings, isWhole } = readMended(text)
  expect([read, findings, isWhole]).toEqual([text, [], true])
})

test('every mistake of a file is found, each at its place', () => {
  const text = 'a: "one\nb:two\nc: { d: 1 e: 2 }\nf: @at\n'
  const { findings, isWhole } = readMended(text)
  expect(
    findings.map(({ code, spans: [{ start }] }) => [code, text.slice(start, start + 3)]),
  ).toEqual([
    ['yaml-quote-open', '"on'],
    ['yaml-space-missing', ':tw'],
    ['yaml-comma-missing', 'e: '],
    ['yaml-quotes-needed', '@at'],
  ])
  expect(isWhole).toBe(true)
  expect(readYaml(text).value).toEqual({ a: 'one', b: 'two', c: { d: 1, e: 2 }, f: '@at' })
})

test('the places of values behind a mistake are those of the original', () => {
  const text = 'a:1\nb: "two"\n'
  const { start, end } = readYaml(text).spanOf({ path: ['b'], at: 'value' })
  expect(text.slice(start, end)).toBe('"two"')
})

test.each(['  ---\na: b\n', '# c\n\n ---\na: b\n', ' --- # c\n a: b\n'])(
  'the indented mark %j is told at its place, and what is below it is read',
  (text) => {
    const [{ code, args, spans }] = readMended(text).findings as [LocalFinding]
    expect([code, args[0]]).toEqual(['yaml-syntax', expect.stringContaining('remove what is')])
    expect(spans).toEqual([{ start: text.indexOf('---'), end: text.indexOf('---') + 3 }])
    expect(readYaml(text).value).toEqual({ a: 'b' })
  },
)

test('two conflicts are two mistakes', () => {
  const conflict = (n: number): string => `<<<<<<< HEAD\na${n}: 1\n=======\na${n}: 2\n>>>>>>> x\n`
  expect(codesOf(`${conflict(1)}b: 3\n${conflict(2)}`)).toEqual([
    'yaml-merge-conflict',
    'yaml-merge-conflict',
  ])
})

test('a file of old line ends alone ends with what the library says', () => {
  expect(codesOf('a: b\rc: d\r').length).toBeLessThanOrEqual(2)
})

test('any pieces put together end in findings whose places lie inside the file', () => {
  const piece = fc.constantFrom(
    ...['a:', ' ', '\n', '  ', '- ', '"', "'", '{', '}', '[', ']', ',', 'b', '1', '#', '\t', '|'],
    ...['@', '“', '\u00a0', '–', '<<<<<<< x\n', '=======\n', '>>>>>>> y\n', '```', '---\n', '\\'],
  )
  fc.assert(
    fc.property(fc.array(piece, { maxLength: 40 }), (pieces) => {
      const text = pieces.join('')
      for (const { spans } of readYaml(text).findings) {
        for (const { start, end } of spans) {
          expect(start).toBeGreaterThanOrEqual(0)
          expect(start).toBeLessThanOrEqual(text.length)
          expect(end).toBeGreaterThan(start)
        }
      }
    }),
    { numRuns: laneCount(2_000) },
  )
})

// Some seconds; one piece more than the limit is the fixture yaml-too-long.
onlyLong(() => {
  test('the longest lists that the schemas take are below the limit of a file', () => {
    const rule = '  - { name: a.example., action: nxdomain }\n'
    expect(20_000 * 14).toBeLessThan(piecesMax)
    expect(readMended(`a:\n${rule.repeat(20_000)}`).excess).toBeUndefined()
  })
})

test.each([
  ['web-copy.yaml', 'web.yaml', 'web', 'web-copy.yaml'],
  ['web (1).yaml', 'www.yaml', 'pool', 'web (1).yaml'],
  ['shop.yaml', 'www.yaml', 'www', 'shop.yaml'],
  ['eu-1.yaml', 'eu-2.yaml', 'eu', 'eu-2.yaml'],
  ['a.yaml', 'b.yaml', 'c', 'b.yaml'],
])('among %s and %s with the object %s the copy is %s', (first, second, name, copy) => {
  const entry = (path: string) => ({ path, object: { metadata: { name } } }) as unknown as Entry
  expect(copyAndOriginal(entry(first), entry(second))[0].path).toBe(copy)
})
