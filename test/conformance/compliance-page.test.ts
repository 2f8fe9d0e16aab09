// docs/rfc-compliance.md and the conformance tests name each other.
import { existsSync, globSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'

const here = import.meta.dirname
const page = readFileSync(join(here, '..', '..', 'docs', 'rfc-compliance.md'), 'utf8')

interface Row {
  readonly rfc: string
  readonly section: string
  readonly does: string
  readonly file: string
}

const lines = page.split('\n').filter((line) => /^\| \d/.test(line))
const rows: readonly Row[] = lines.map((line) => {
  const [, rfc = '', section = '', does = '', file = ''] = line.split('|')
  return { rfc: rfc.trim(), section: section.trim(), does: does.trim(), file: fileIn(file) }
})

function fileIn(cell: string): string {
  return /`(.+)`/.exec(cell)?.[1] ?? ''
}

test('every row says what we do and names a test', () => {
  expect(rows.filter(({ does, file }) => does === '' || file === '')).toEqual([])
  expect(rows.length).toBeGreaterThan(20)
})

test('every test that the page names exists and speaks of its RFC', () => {
  for (const { rfc, file } of rows) {
    const path = join(here, file)
    expect([file, existsSync(path)]).toEqual([file, true])
    expect([file, readFileSync(path, 'utf8').includes(`RFC ${rfc}`)]).toEqual([file, true])
  }
})

test('every conformance test has a row', () => {
  const files = globSync('rfc*/*.test.ts', { cwd: here }).sort()
  const named = new Set(rows.map(({ file }) => file))
  expect(files.filter((file) => !named.has(file))).toEqual([])
})

test('a section file stands in the row of its first section', () => {
  for (const { file, section } of rows) {
    const sections = section.split(', ').map((number) => `section-${number.replaceAll('.', '-')}`)
    const name = /section-[\d-]+/.exec(file)?.[0]
    if (name === undefined) continue
    expect([
      file,
      sections.some(
        (one) => one === name || one.startsWith(`${name}-`) || name.startsWith(`${one}-`),
      ),
    ]).toEqual([file, true])
  }
})

test('no row comes twice, and the rows are in the order of the RFCs', () => {
  const keys = rows.map(({ rfc, section }) => `${rfc} ${section}`)
  expect(new Set(keys).size).toBe(keys.length)
  const numbers = rows.map(({ rfc }) => Number(rfc))
  expect(numbers).toEqual([...numbers].sort((one, other) => one - other))
})
