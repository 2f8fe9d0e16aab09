// Compares a table of a page with the rows of the code; with GSLBD_UPDATE=1 writes it.
import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect } from 'vitest'
import { withoutPadding } from '#test/tidy/layer-table.ts'

const root = join(import.meta.dirname, '../..')

/** Formatted as prettier does, except for the padding. */
export function tableOf(head: readonly string[], rows: readonly (readonly string[])[]): string {
  const lines = [head, head.map(() => '-'), ...rows]
  return lines.map((cells) => `| ${cells.map((cell) => cell || ' ').join(' | ')} |`).join('\n')
}

/** Run prettier after a page was written. */
export function expectTable(page: string, table: string): void {
  const file = join(root, page)
  if (process.env['GSLBD_UPDATE'] === '1') updateTable(file, table)
  expect(withoutPadding(readFileSync(file, 'utf8'))).toContain(withoutPadding(table))
}

/** Replaces the table with the same first column. */
function updateTable(file: string, table: string): void {
  const lines = readFileSync(file, 'utf8').split('\n')
  const [first = ''] = /^\| \S+/.exec(table) ?? []
  const start = lines.findIndex((line) => line.startsWith(`${first} `))
  const count = lines.slice(start).findIndex((line) => !line.startsWith('|'))
  lines.splice(start, count, table)
  writeFileSync(file, lines.join('\n'))
}
