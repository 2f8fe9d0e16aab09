// The type of a row of the diagnostics table.

/** `error` stops the compilation; `warning` and `note` do not. */
export type Severity = 'error' | 'warning' | 'note'

/** A row of the table: the texts of a finding, and those that `gslbd explain` adds. */
export interface DiagnosticSpec {
  readonly severity: Severity
  /** Message: a sentence without a full stop; each `%s` takes the next argument. */
  readonly message: string
  /**
   * The message as seen from the second place of the finding, or by the owner of the asked name; it
   * takes the same arguments, `%2$s` the second.
   */
  readonly messageOfOther?: string
  /** Position of the argument, from 0, that is the name which a policy test asks for. */
  readonly askedArg?: number
  /** Remedy. */
  readonly help: string
  /** Why this is refused or pointed out. */
  readonly cause: string
  readonly bad: string
  readonly good: string
}
