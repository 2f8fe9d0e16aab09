// Prints diagnostics as one JSON document, for programs.
import type { Severity } from '#diagnostics/diagnostic-spec.ts'
import type { DiagnosticReport, SourceSpan } from '#diagnostics/diagnostic.ts'
import { helpOf, messageOf } from '#diagnostics/diagnostics.ts'
import { SourcePositions } from './position.ts'

export interface JsonDiagnostic {
  readonly code: string
  readonly severity: Severity
  readonly message: string
  readonly help: string
  readonly suggestion: string
  /** The first is the fault, the others are what it conflicts with. */
  readonly places: readonly JsonPlace[]
}
export interface JsonPlace {
  readonly path: string
  readonly line: number
  readonly column: number
  readonly endLine: number
  readonly endColumn: number
}

/** The plain form, as the API shows it too. */
export function jsonDiagnostics(report: DiagnosticReport): readonly JsonDiagnostic[] {
  const positions = new SourcePositions(report.sources)
  return report.diagnostics.map((diagnostic) => ({
    code: diagnostic.code,
    severity: diagnostic.severity,
    message: messageOf(diagnostic),
    help: helpOf(diagnostic),
    suggestion: diagnostic.suggestion,
    places: diagnostic.spans.map((span) => placeOf(span, positions)),
  }))
}

export function printJson(report: DiagnosticReport): string {
  const { total } = report
  return `${JSON.stringify({ total, diagnostics: jsonDiagnostics(report) }, null, 2)}\n`
}

function placeOf({ path, start, end }: SourceSpan, positions: SourcePositions): JsonPlace {
  const from = positions.positionOf(path, start)
  const to = positions.positionOf(path, end)
  return { path, line: from.line, column: from.column, endLine: to.line, endColumn: to.column }
}
