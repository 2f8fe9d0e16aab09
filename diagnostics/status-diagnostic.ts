// A diagnostic as the GitOps status shows it: plain values with file, line and column.

export interface StatusDiagnostic {
  readonly severity: 'error' | 'warning' | 'note'
  readonly code: string
  readonly message: string
  readonly help: string
  /** Empty: it is about no file. */
  readonly file: string
  /** From 1. */
  readonly line: number
  /** From 1. */
  readonly column: number
  /** As a terminal shows it, with the line of the file. */
  readonly text?: string
}
