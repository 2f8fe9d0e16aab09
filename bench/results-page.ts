// Writes the results section of docs/benchmarks.md: one part per benchmark, replaced when it runs
// again.
import { readFileSync, writeFileSync } from 'node:fs'
import type { Table } from './report.ts'
import { markdownTable } from './support/print-table.ts'

const page = new URL('../docs/benchmarks.md', import.meta.url)
const section = { start: '<!-- results -->', end: '<!-- /results -->' } as const

/** @param heading lines about the machine and the run */
export function writeResults(
  name: string,
  heading: readonly string[],
  tables: readonly Table[],
): void {
  const text = readFileSync(page, 'utf8')
  writeFileSync(page, withResults(text, name, partOf(name, heading, tables)))
}

export function partOf(name: string, heading: readonly string[], tables: readonly Table[]): string {
  const facts = heading.map((line) => `- ${line}`).join('\n')
  return [`### ${name}\n`, `${facts}\n`, ...tables.map(markdownTable)].join('\n')
}

/**
 * Replaces the part of the same name; a new one is appended to the section.
 *
 * @throws when the page has lost its markers
 */
export function withResults(text: string, name: string, part: string): string {
  const start = text.indexOf(section.start)
  const end = text.indexOf(section.end)
  if (start < 0 || end < start)
    throw new Error(`docs/benchmarks.md has no ${section.start} section`)
  const inside = text.slice(start + section.start.length, end)
  const parts = inside.split(/^(?=### )/m).map((each) => each.trim())
  const others = parts.filter((each) => each !== '')
  const at = others.findIndex((each) => each.startsWith(`### ${name}\n`))
  if (at < 0) others.push(part.trim())
  else others[at] = part.trim()
  const middle = others.map((each) => `${each}\n`).join('\n')
  return `${text.slice(0, start)}${section.start}\n\n${middle}\n${text.slice(end)}`
}
