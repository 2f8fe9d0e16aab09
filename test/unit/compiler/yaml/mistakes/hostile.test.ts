// Texts made to be costly to mend: what reading them costs grows with their length and no faster.
import { expect, test } from 'vitest'
import { readFile } from '#compiler/read/read-file.ts'
import { mistakesMax } from '#compiler/yaml/mistakes/mend.ts'
import { Patch } from '#compiler/yaml/mistakes/patch.ts'
import { laneRows } from '#test/support/lane.ts'

const mebibyte = 2 ** 20
const filled = (start: string, piece: string, end = ''): string =>
  start + piece.repeat(Math.floor((mebibyte - start.length - end.length) / piece.length)) + end

const forms: Readonly<Record<string, string>> = {
  'blanks behind a sign that needs quotes': filled('a: @', ' ', 'x\n'),
  'blanks behind a quote that never ends': filled('a: "', ' ', 'x\n'),
  'blanks behind a quote in brackets': filled('a: { b: "', ' ', 'x\n'),
  'blanks where a comma may be missing': filled('a: { b: 1', ' ', 'x: @ }\n'),
  'blanks behind a word, and a line separator': filled('a: 1\nb', ' ', 'x\u2028y\nc: @\n'),
  'comments before a line separator': filled('a: @', ' #', '\u2028x\n'),
  'lines of a quote of word processors': filled('', '- “\n'),
  'lines of wrong dashes': filled('a:\n', '  – b: 1\n    c: 2\n'),
  conflicts: filled('', '<<<<<<< a\nb: 1\n=======\nb: 2\n>>>>>>> c\n'),
  'lines to be moved': filled('a:\n   b: 1\n', '  c: 1\n'),
  'deeper lines to be moved': filled('a: 1\n', '  c: 1\n'),
  'lines that start with a tab': filled('a:\n', '\tb: 1\n'),
  'quotes in one line before an error': filled('a: [', '"",', '@\n'),
  'comments before an error': filled('', '#\n', 'a: @\nb: @\nc: @\nd: @\n'),
  'colons without a space': filled('', 'a:1\n'),
  'open brackets in lines': filled('', 'a: {\n'),
}

/** A text for each part that looks for mistakes: quotes, signs, conflicts. */
const shortForms = [
  'blanks behind a quote that never ends',
  'blanks behind a word, and a line separator',
  'conflicts',
]
const rows = laneRows(Object.entries(forms), ([name]) => shortForms.includes(name))

/** About a second on a machine at rest; what grew with the square of the length took minutes. */
const cpuMsMax = 5_000

function cpuMs(work: () => void): number {
  const before = process.threadCpuUsage()
  work()
  const { user, system } = process.threadCpuUsage(before)
  return (user + system) / 1000
}

test.each(rows)('a mebibyte of %s is read at once', (_, text) => {
  const bytes = Buffer.from(text)
  const read = (): void => expect(readFile('', bytes).findings.length).toBeGreaterThan(0)
  // The machine has other work: the better of two.
  const tookMs = cpuMs(read)
  expect(tookMs < cpuMsMax ? tookMs : cpuMs(read)).toBeLessThan(cpuMsMax)
})

test('only the first of many mistakes are reported', () => {
  const text = '<<<<<<< a\nb: 1\n=======\nb: 2\n>>>>>>> c\n'.repeat(2 * mistakesMax)
  const { findings } = readFile('', Buffer.from(text))
  expect(findings).toHaveLength(mistakesMax)
  expect(findings.at(-1)!.spans[0].start).toBeLessThan(text.length / 2)
})

test('a text under edits knows where its characters were', () => {
  const once = Patch.of('0123456789').with([
    { at: 8, remove: 1, insert: '' },
    { at: 2, remove: 2, insert: 'abc' },
    { at: 5, remove: 0, insert: 'X' },
  ])
  expect(once.text).toBe('01abc4X5679')
  const twice = once.with([{ at: 0, remove: 1, insert: '--' }])
  expect(twice.text).toBe('--1abc4X5679')
  const places = Array.from(twice.text, (_, i) => twice.toOriginal(i))
  expect(places).toEqual([0, 1, 1, 2, 3, 4, 4, 5, 5, 6, 7, 9])
})
