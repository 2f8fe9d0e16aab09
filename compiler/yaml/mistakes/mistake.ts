// The type of a YAML mistake: what was found, and the text without it.
import type { DiagnosticCode } from '#diagnostics/diagnostics.ts'
import type { LocalFinding } from '#diagnostics/finding.ts'

/** In the text as it is when the mistake is found. */
export interface Edit {
  readonly at: number
  readonly remove: number
  readonly insert: string
}

export interface Mistake {
  readonly finding: LocalFinding
  /** None: nobody knows what was meant, and what follows cannot be read. */
  readonly edits: readonly Edit[]
  /** What is wrong with the text after such an edit may be an echo of it. */
  readonly isGuess?: boolean
}

export function mistake(
  code: DiagnosticCode,
  [start, length]: readonly [start: number, length: number],
  args: readonly string[],
  ...edits: readonly Edit[]
): Mistake {
  const span = { start, end: start + Math.max(1, length) }
  return { finding: { code, args, suggestion: '', spans: [span] }, edits }
}

export function insertAt(at: number, insert: string): Edit {
  return { at, remove: 0, insert }
}
