// Documents say what the source says: links, paths, commands, exit codes, settings, workflows.
import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { layers } from './layers.ts'
import {
  adrViolations,
  changelogViolations,
  hiddenSubjects,
  linkViolations,
  pathViolations,
  tableRows,
  workflowViolations,
} from './tidy/doc-rules.ts'
import { listFiles } from './tidy/source.ts'

const root = join(import.meta.dirname, '..')
const read = (path: string): string => readFileSync(join(root, path), 'utf8')
const exists = (path: string): boolean => existsSync(join(root, path))
const files = listFiles(root)
const below = (folder: string, suffix: string): string[] =>
  files.filter((path) => path.startsWith(folder) && path.endsWith(suffix))

describe('this repository', () => {
  test('links lead somewhere', () => {
    expect(below('', '.md').flatMap((path) => linkViolations(path, read(path), exists))).toEqual([])
  })

  test('decisions are pages in one form, numbered without gaps', () => {
    const decisions = below('docs/adr/', '.md')
    expect(decisions.flatMap((path) => adrViolations(path, read(path)))).toEqual([])
    const numbers = decisions.map((path) => Number(path.split('/').at(-1)!.slice(0, 4)))
    expect(numbers).toEqual(numbers.map((_, index) => index + 1))
  })

  test('no sentence of a page opens with Of, Who, Whoever or Those', () => {
    expect(below('', '.md').flatMap((path) => hiddenSubjects(path, read(path)))).toEqual([])
  })

  test('docs/compatibility.md has versions, dates and tests of programs, which are there', () => {
    const text = read('docs/compatibility.md')
    const run = tableRows(text, 'program')
    expect(run.length).toBeGreaterThan(30)
    const isRight = ([, version = '', , date = '', tests = '']: string[]): boolean =>
      /^\d+\.\d+/.test(version) &&
      /^\d{4}-\d\d-\d\d$/.test(date) &&
      /^[\w/-]+\.test\.ts(, [\w/-]+\.test\.ts)*$/.test(tests)
    expect(run.filter((row) => !isRight(row))).toEqual([])
    const named = [...text.matchAll(/`((?:test|findings)\/)?([\w/-]+\.(?:test\.ts|sh))`/g)]
    const paths = named.map(([, folder = '', name = '']) =>
      folder === '' && name.endsWith('.ts') ? `test/peers/${name}` : folder + name,
    )
    expect(paths.length).toBeGreaterThan(80)
    const isNamed = (path: string): boolean =>
      /^\w/.test(path) && path.includes('/') && !path.endsWith('NAME.sh')
    expect(paths.filter((path) => isNamed(path) && !exists(path))).toEqual([])
  })

  test('the changelog keeps its parts', () => {
    expect(changelogViolations(read('CHANGELOG.md'))).toEqual([])
  })

  test('workflows pin what they use, and CI runs nothing but the common script', () => {
    const workflows = below('.github/workflows/', '.yml')
    expect(workflows.flatMap((path) => workflowViolations(path, read(path)))).toEqual([])
    const runs = [...read('.github/workflows/ci.yml').matchAll(/\brun: (.+)$/gm)]
    expect(runs.map(([, command]) => command)).toEqual(['.ci/run'])
  })

  test('ARCHITECTURE.md is short and names files that exist', () => {
    const text = read('ARCHITECTURE.md')
    expect(text.split('\n').length).toBeLessThanOrEqual(320)
    const folders = [...layers.map(({ folder }) => folder), 'test', 'docs', 'bench', 'bin']
    expect(pathViolations('ARCHITECTURE.md', text, folders, exists)).toEqual([])
  })

  test('ARCHITECTURE.md lists every file that starts threads, and no other', () => {
    const rows = tableRows(read('ARCHITECTURE.md'), 'thread')
    const listed = rows.map(([, , , file = '']) => file.replaceAll('`', ''))
    const product = layers.flatMap(({ folder }) => below(`${folder}/`, '.ts'))
    const starting = product.filter((path) => read(path).includes('new Worker('))
    expect([...new Set(listed)].sort()).toEqual(['bin/gslbd', ...starting].sort())
  })

  test('README.md is short', () => {
    expect(Buffer.byteLength(read('README.md'))).toBeLessThanOrEqual(12_000)
  })

  test('the list of pages for operators leads to every one', () => {
    const pages = below('docs/operations/', '.md').map((path) => path.split('/').at(-1)!)
    const text = read('docs/operations/README.md')
    expect(pages.length).toBeGreaterThan(1)
    const missing = pages.filter((page) => page !== 'README.md' && !text.includes(`](${page})`))
    expect(missing).toEqual([])
  })
})

describe('each rule refuses its offence', () => {
  const nowhere = (): boolean => false

  test('a link to nothing', () => {
    expect(linkViolations('docs/a.md', '[x](../b.md)', nowhere)).toHaveLength(1)
    expect(linkViolations('docs/a.md', '[x](../b.md#y)', (path) => path === 'b.md')).toEqual([])
    expect(linkViolations('a.md', '[x](https://example.org) [y](#z)', nowhere)).toEqual([])
  })

  test('a sentence of a page that hides its subject', () => {
    expect(hiddenSubjects('a.md', 'Said of it. Who asks, those of it.\n\n- Those.')).toEqual([
      'a.md:1: a sentence opens with "Who"; say its subject',
      'a.md:3: a sentence opens with "Those"; say its subject',
    ])
    expect(hiddenSubjects('a.md', '| a | Of it. |\n\nWhoever')).toHaveLength(2)
  })

  const adr =
    '# 7. X\n\nStatus: accepted. Date: 2026-01-02.\n\n' +
    '## Context\n\n## Decision\n\n## Consequences\n\n## Alternatives\n'
  test.each([
    ['nothing', adr, 0],
    ['a wrong number', adr.replace('# 7.', '# 8.'), 1],
    ['a missing status', adr.replace('Status', 'State'), 1],
    ['a missing part', adr.replace('## Alternatives\n', ''), 1],
    ['length', adr + '\n'.repeat(70), 1],
  ])('a decision with %s', (_title, text, count) => {
    expect(adrViolations('docs/adr/0007-x.md', text)).toHaveLength(count)
  })

  test('a changelog with strange parts, in another order, or of more than a screen', () => {
    expect(changelogViolations('## 1\n### Safety\n### Features\n')).toEqual([])
    expect(changelogViolations('## 1\n### Fixes\n')).toHaveLength(1)
    expect(changelogViolations('## 1\n### Features\n### Safety\n')).toHaveLength(1)
    expect(changelogViolations(`## 1\n${'- x\n'.repeat(59)}`)).toEqual([])
    expect(changelogViolations(`## 1\n${'- x\n'.repeat(60)}`)).toHaveLength(1)
  })

  test('a workflow with a moving action or a writing token', () => {
    const pinned = `permissions:\n  contents: read\n - uses: a/b@${'0'.repeat(40)} # v1\n`
    expect(workflowViolations('w.yml', pinned)).toEqual([])
    expect(workflowViolations('w.yml', pinned.replace(/@0+/, '@v4'))).toHaveLength(1)
    expect(workflowViolations('w.yml', pinned.replace('read', 'write'))).toHaveLength(1)
  })

  test('a path that does not exist', () => {
    expect(pathViolations('a.md', 'see `lib/x.ts` and `data/y`', ['lib'], nowhere)).toEqual([
      'a.md: names lib/x.ts, which does not exist',
    ])
  })

  test('a table is read without its padding', () => {
    const text = 'x\n\n| key   | b |\n| ----- | - |\n| `one` |   |\n\ny | z'
    expect(tableRows(text, 'key')).toEqual([['one', '']])
    expect(tableRows(text, 'none')).toEqual([])
  })
})
