// Prints a table as aligned text, for a terminal and for Markdown (as the formatter leaves it).
import type { Table } from '../report.ts'

const numeric = /^(?:[-+]?\d[\d.,]*(?:\.\.[-+]?\d[\d.,]*)?|-)$/

function isNumericColumn(table: Table, column: number): boolean {
  return table.rows.length > 0 && table.rows.every((row) => numeric.test(row[column] ?? '-'))
}

function widths(table: Table, least: number): number[] {
  return table.columns.map((name, column) =>
    Math.max(least, name.length, ...table.rows.map((row) => (row[column] ?? '').length)),
  )
}

function padded(cell: string, width: number, isRight: boolean): string {
  return isRight ? cell.padStart(width) : cell.padEnd(width)
}

/** Title, a line per row, notes; ends with a line feed. */
export function plainTable(table: Table): string {
  const width = widths(table, 1)
  const isRight = table.columns.map((_, column) => isNumericColumn(table, column))
  const line = (cells: readonly string[]): string =>
    width
      .map((w, column) => padded(cells[column] ?? '', w, isRight[column]!))
      .join('  ')
      .trimEnd()
  const lines = [
    table.title,
    line(table.columns),
    width.map((w) => '-'.repeat(w)).join('  '),
    ...table.rows.map(line),
    ...table.notes.map((note) => `  ${note}`),
  ]
  return `${lines.join('\n')}\n`
}

export function markdownTable(table: Table): string {
  const width = widths(table, 3)
  const isRight = table.columns.map((_, column) => isNumericColumn(table, column))
  const line = (cells: readonly string[]): string =>
    `| ${width.map((w, column) => padded(cells[column] ?? '', w, isRight[column]!)).join(' | ')} |`
  const rule = width.map((w, column) =>
    isRight[column]! ? `${'-'.repeat(w - 1)}:` : '-'.repeat(w),
  )
  const head = [`#### ${table.title}`, '', line(table.columns), `| ${rule.join(' | ')} |`]
  const notes = table.notes.length === 0 ? [] : ['', ...table.notes.map((note) => `- ${note}`)]
  return `${[...head, ...table.rows.map(line), ...notes].join('\n')}\n`
}
