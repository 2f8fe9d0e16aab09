// A diagnostic: its row of the table, the values of its message, and its place in a file.
import type { Severity } from './diagnostic-spec.ts'
import type { DiagnosticCode } from './diagnostics.ts'

/** Offsets in UTF-16 units of the decoded text, without a byte order mark; `end` is exclusive. */
export interface LocalSpan {
  readonly start: number
  readonly end: number
}

export interface SourceSpan extends LocalSpan {
  readonly path: string
}

export interface Diagnostic {
  readonly code: DiagnosticCode
  readonly severity: Severity
  readonly args: readonly string[]
  /** The first is the fault, the others are what it conflicts with. */
  readonly spans: readonly [SourceSpan, ...SourceSpan[]]
  /** Keys and positions to the fault, with dots; '' where only the span is known. */
  readonly field: string
  /** Nearest valid text; empty when none is near. */
  readonly suggestion: string
}

/** How many findings of each severity. */
export type SeverityCounts = Readonly<Record<Severity, number>>

/** Findings of a run. `diagnostics` is capped, so `total` may be larger. */
export interface DiagnosticReport {
  readonly diagnostics: readonly Diagnostic[]
  readonly total: number
  /** Adds up to `total`. */
  readonly counts: SeverityCounts
  /** Texts of the files that the spans point into, by path; a file that is no text is missing. */
  readonly sources: ReadonlyMap<string, string>
}

/** How many diagnostics one run lists. */
export const diagnosticsMax = 1_000

/** Notes of one code that a report lists: what is odd of one record is often odd of all. */
export const notesPerCodeMax = 20

/** A place in a YAML file: keys and positions from the top. */
export type YamlPath = readonly (string | number)[]

/** A step into a mapping can be meant as its key or as its value. */
export interface Place {
  readonly path: YamlPath
  readonly at: 'key' | 'value'
  /** The index within a value that is a text. */
  readonly character?: number | undefined
}

export const valueAt = (...path: YamlPath): Place => ({ path, at: 'value' })
export const keyAt = (...path: YamlPath): Place => ({ path, at: 'key' })
