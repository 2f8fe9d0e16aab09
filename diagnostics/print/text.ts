// Prints diagnostics for people: place, message, the source line with a mark under it, and the
// remedy.
import type { Diagnostic, DiagnosticReport, SourceSpan } from '#diagnostics/diagnostic.ts'
import { helpOf, hintOf, messageOf } from '#diagnostics/diagnostics.ts'
import { SourcePositions } from './position.ts'

/** Long lines are cut, so that a mistake in a megabyte of one line stays readable. */
const lineWidthMax = 120

export function printText(report: DiagnosticReport): string {
  const positions = new SourcePositions(report.sources)
  const blocks = report.diagnostics.map((diagnostic) => block(diagnostic, positions))
  const more = report.total - report.diagnostics.length
  const which = summary({ counts: hiddenCounts(report) })
  if (more > 0) blocks.push(`and ${more} more that are not shown (${which})\n`)
  return blocks.join('\n')
}

/**
 * The errors alone, and how many there are: for commands that need a configuration without, and
 * are not asked for what else `gslbd check` finds.
 */
export function printErrors(report: DiagnosticReport): string {
  const diagnostics = report.diagnostics.filter(({ severity }) => severity === 'error')
  const counts = { ...report.counts, warning: 0, note: 0 }
  const errors = printText({ ...report, diagnostics, counts, total: counts.error })
  return `${errors}\n${summary({ counts })}\n`
}

/** `2 errors, 1 warning`, those that are not listed included; empty when there is nothing. */
export function summary({ counts }: Pick<DiagnosticReport, 'counts'>): string {
  return Object.entries(counts)
    .filter(([, count]) => count > 0)
    .map(([severity, count]) => `${count} ${severity}${count === 1 ? '' : 's'}`)
    .join(', ')
}

function hiddenCounts({ counts, diagnostics }: DiagnosticReport): DiagnosticReport['counts'] {
  const hidden = { ...counts }
  for (const { severity } of diagnostics) hidden[severity]--
  return hidden
}

function block(diagnostic: Diagnostic, positions: SourcePositions): string {
  const [first, ...others] = diagnostic.spans
  const { severity, code, suggestion } = diagnostic
  const lines = [`${placeText(first, positions)}: ${severity} ${code}: ${messageOf(diagnostic)}`]
  lines.push(...frame(first, positions))
  for (const span of others)
    lines.push(`  see ${placeText(span, positions)}`, ...frame(span, positions))
  const help = helpOf(diagnostic)
  const hint = hintOf(suggestion, help)
  if (hint !== '') lines.push(`  ${hint}`)
  lines.push(`  help: ${help}`)
  return `${lines.map(printable).join('\n')}\n`
}

function placeText({ path, start }: SourceSpan, positions: SourcePositions): string {
  const { line, column } = positions.positionOf(path, start)
  return `${path}:${line}:${column}`
}

function frame({ path, start, end }: SourceSpan, positions: SourcePositions): string[] {
  const table = positions.tableOf(path)
  const { line, column } = table.positionOf(start)
  const text = table.lineText(line)
  if (text === undefined || text === '') return []
  const from = Math.max(0, column - 1 - lineWidthMax / 2)
  const shown = text.slice(from, from + lineWidthMax)
  const marked = Math.max(1, Math.min(end - start, text.length - column + 1, lineWidthMax / 2))
  const number = String(line).padStart(5)
  return [
    `${number} | ${shown}`,
    `${' '.repeat(number.length)} | ${' '.repeat(column - 1 - from)}${'^'.repeat(marked)}`,
  ]
}

/** A file must not be able to move the cursor or the colours of a terminal. */
function printable(text: string): string {
  return text
    .replace(/\t/g, ' ')
    .replace(/[\u0000-\u001f\u007f-\u009f\u202a-\u202e\u2066-\u2069]/g, '?')
}
