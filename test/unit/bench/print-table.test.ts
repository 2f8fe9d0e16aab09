import { format } from 'prettier'
import { expect, test } from 'vitest'
import type { Table } from '#bench/report.ts'
import { markdownCells } from '#bench/health-table.ts'
import { markdownTable, plainTable } from '#bench/support/print-table.ts'

const table: Table = {
  title: 'CPU per query',
  columns: ['server', 'n', 'total µs', 'min-max'],
  rows: [
    ['gslbd', '5', '5.60', '-1.2..10.3'],
    ['a server with a long name', '12', '11.90', '1..2'],
    ['nsd', '0', '-', '-'],
  ],
  notes: ['medians'],
}

test('a table for the terminal has its columns one below the other, numbers to the right', () => {
  expect(plainTable(table)).toBe(
    [
      'CPU per query',
      'server                      n  total µs     min-max',
      '-------------------------  --  --------  ----------',
      'gslbd                       5      5.60  -1.2..10.3',
      'a server with a long name  12     11.90        1..2',
      'nsd                         0         -           -',
      '  medians',
      '',
    ].join('\n'),
  )
})

test.each([
  ['with notes', table],
  ['without notes', { ...table, notes: [] }],
  ['with empty cells', { ...table, rows: [['a', '', '', 'not installed']] }],
  ['without rows', { ...table, rows: [] }],
])('a table %s for the documentation is as the formatter would write it', async (_, each) => {
  const text = markdownTable(each)
  expect(await format(text, { parser: 'markdown' })).toBe(text)
})

test('the cells of a printed Markdown table can be read back', () => {
  expect(markdownCells(markdownTable(table))).toEqual([table.columns, ...table.rows])
})
