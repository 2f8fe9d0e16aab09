// A finding of a rule, before it becomes a diagnostic: inside one file, or between files.
import type { LocalSpan, Place } from './diagnostic.ts'
import type { DiagnosticCode } from './diagnostics.ts'

/** Found while reading one file; kept with it, under whatever path the file appears. */
export interface LocalFinding {
  readonly code: DiagnosticCode
  readonly args: readonly string[]
  readonly suggestion: string
  readonly spans: readonly [LocalSpan, ...LocalSpan[]]
}

/** What a rule says besides the code. */
export interface FindingDetail {
  readonly args?: readonly string[]
  readonly suggestion?: string | undefined
  /** The other place, when two conflict. */
  readonly other?: Place
}

/** How a rule about one object reports. */
export type Report = (code: DiagnosticCode, place: Place, detail?: FindingDetail) => void
