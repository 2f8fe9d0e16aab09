// The type of a YAML mistake: the finding, and the edits that mend it.
import type { DiagnosticCode } from '#diagnostics/diagnostics.ts'
import type { LocalFinding } from '#diagnostics/finding.ts'

/** Offsets are in the text at the time of the finding. */
export interface Edit {
  readonly at: number
  readonly remove: number
  readonly insert: string
}

export interface Mistake {
  readonly finding: LocalFinding
  /** Empty: the intention is unknown, and the rest cannot be read. */
  readonly edits: readonly Edit[]
  /** Later errors may be echoes of this edit. */
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
