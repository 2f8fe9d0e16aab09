// Finds lines that are indented slightly too far or too little.
import { lineBelow, linesAbove } from '#compiler/yaml/parse/lines.ts'
import type { Line } from '#compiler/yaml/parse/lines.ts'
import { mistake } from './mistake.ts'
import type { Edit, Mistake } from './mistake.ts'

/** The line below gives fields to a key that has a value already: it was meant to be beside it. */
export function deeperLine(text: string, line: Line): Mistake | undefined {
  const below = lineBelow(text, line)
  if (below === undefined || below.indent <= line.column) return undefined
  return moved(text, below, line.column)
}

/** The line is in none of the columns of the lines above. */
export function reindented(text: string, line: Line): Mistake | undefined {
  const columns = new Set<number>()
  let limit = Infinity
  for (const above of linesAbove(text, line)) {
    const starts = line.dashes.length > 0 ? [...above.dashes, above.indent] : [above.column]
    for (const start of starts) if (start < limit) columns.add(start)
    limit = Math.min(limit, above.indent)
    if (limit === 0) break
  }
  if (columns.size === 0 || columns.has(line.indent)) return undefined
  // The deeper of two equally near columns wins: a space is forgotten more often than added.
  const nearest = [...columns].sort(
    (a, b) => Math.abs(a - line.indent) - Math.abs(b - line.indent) || b - a,
  )
  return moved(text, line, nearest[0]!)
}

function moved(text: string, line: Line, column: number): Mistake {
  const { start, indent, content } = line
  const edits: Edit[] = []
  // The lines below it move along.
  for (let one: Line | undefined = line; one !== undefined; one = lineBelow(text, one)) {
    if (one.indent < indent || (one !== line && one.indent <= column)) break
    // Only this line was wrong: the lines below it are where they belong.
    if (one !== line && line.dashes.length > 0 && one.indent === line.column + column - indent)
      break
    const insert = ' '.repeat(Math.max(0, one.indent + column - indent))
    edits.push({ at: one.start, remove: one.indent, insert })
  }
  const args = [
    spaces(indent),
    column === 0 ? 'do not indent it' : `indent it by ${spaces(column)}`,
  ]
  return mistake('yaml-indentation', [start + indent, content.length], args, ...edits)
}

function spaces(count: number): string {
  if (count === 0) return 'no space'
  return count === 1 ? 'one space' : `${count} spaces`
}
