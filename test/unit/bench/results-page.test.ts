import { readFileSync } from 'node:fs'
import { format } from 'prettier'
import { expect, test } from 'vitest'
import { partOf, withResults } from '#bench/results-page.ts'

const page = '# Benchmarks\n\n<!-- results -->\n\n<!-- /results -->\n\nThe end.\n'
const table = { title: 'Title', columns: ['what', 'ms'], rows: [['load', '12']], notes: [] }
const part = (name: string, ms = '12'): string =>
  partOf(name, ['machine: one'], [{ ...table, rows: [['load', ms]] }])

test('results go between the markers, one part per benchmark, and the rest stays', () => {
  const once = withResults(page, 'bundle', part('bundle'))
  const twice = withResults(once, 'compile', part('compile'))
  expect(twice.startsWith('# Benchmarks\n\n<!-- results -->\n\n### bundle\n')).toBe(true)
  expect(twice.endsWith('\n\n<!-- /results -->\n\nThe end.\n')).toBe(true)
  expect(twice.match(/^### .*$/gm)).toEqual(['### bundle', '### compile'])
})

test('a second run takes the place of the first', () => {
  const both = withResults(withResults(page, 'a', part('a')), 'b', part('b'))
  const again = withResults(both, 'a', part('a', '99'))
  expect(again.match(/^### .*$/gm)).toEqual(['### a', '### b'])
  expect(again).toBe(both.replace('12', '99'))
})

test('the page that comes out is as the formatter would write it', async () => {
  const filled = withResults(withResults(page, 'a', part('a')), 'b', part('b'))
  expect(await format(filled, { parser: 'markdown' })).toBe(filled)
})

test('a page that has lost its markers is an error', () => {
  expect(() => withResults('# Benchmarks\n', 'a', part('a'))).toThrow('<!-- results -->')
})

test('docs/benchmarks.md has the markers', () => {
  const text = readFileSync(new URL('../../../docs/benchmarks.md', import.meta.url), 'utf8')
  expect(() => withResults(text, 'a', part('a'))).not.toThrow()
})
