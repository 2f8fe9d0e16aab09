// The type of a row of the diagnostics table.

/** `error` stops the compilation; `warning` and `note` do not. */
export type Severity = 'error' | 'warning' | 'note'

/** A row of the table: the texts of a finding, and those that `gslbd explain` adds. */
export interface DiagnosticSpec {
  readonly severity: Severity
  /** Message: a sentence without a full stop; each `%s` takes the next argument. */
  readonly message: string
  /** The message as seen from the second place of the finding; it takes the same arguments. */
  readonly messageOfOther?: string
  /** Remedy. */
  readonly help: string
  /** Why this is refused or pointed out. */
  readonly cause: string
  readonly bad: string
  readonly good: string
}
