// Defines the result of `gslbd test` as data: each case with its place, and what failed.
import type { Place } from '#diagnostics/diagnostic.ts'
import { LineTable } from '#diagnostics/print/position.ts'
import type { Position } from '#diagnostics/print/position.ts'
import type { ReadFile } from '#compiler/read/read-file.ts'
import { readYaml } from '#compiler/yaml/document.ts'
import type { YamlDocument } from '#compiler/yaml/document.ts'
import { coverageOf } from './coverage.ts'
import type { Coverage } from './coverage.ts'
import type { CaseResult, PolicyTestRun } from './run.ts'
import { placeOfCase, placeOfExpected } from './test-case.ts'
import { traceLine } from './trace-line.ts'

export interface ReportedCase {
  /** `NAME OF THE TEST: name of the case`. */
  readonly title: string
  readonly test: string
  readonly file: string
  readonly line: number
  readonly column: number
  /** `failed` includes cases that could not be asked. */
  readonly outcome: 'passed' | 'failed'
  /** Fault of the case itself; '': none. */
  readonly fault: string
  readonly failures: readonly {
    readonly field: string
    readonly line: number
    readonly column: number
    readonly expected: string
    readonly got: string
  }[]
  /** How the answer came about; '': there was no answer. */
  readonly trace: string
}

export interface TestReport {
  readonly passed: number
  readonly failed: number
  readonly cases: readonly ReportedCase[]
  readonly coverage?: Coverage
}

export function reportOf(run: PolicyTestRun, withCoverage: boolean): TestReport {
  const places = new FilePlaces()
  const cases = run.results.map((result) => reported(result, places))
  const failed = cases.filter(({ outcome }) => outcome === 'failed').length
  const coverage = withCoverage ? { coverage: coverageOf(run) } : {}
  return { passed: cases.length - failed, failed, cases, ...coverage }
}

function reported(result: CaseResult, places: FilePlaces): ReportedCase {
  const { fault, mismatches, simulation } = result
  const { entry, title } = result.case
  return {
    title,
    test: entry.object.metadata.name,
    file: entry.path,
    ...places.positionOf(entry.file, placeOfCase(result.case)),
    outcome: mismatches.length === 0 && fault === '' ? 'passed' : 'failed',
    fault,
    failures: mismatches.map(({ field, path, expected, got }) => {
      const place = placeOfExpected(result.case, field, ...path)
      return { field, ...places.positionOf(entry.file, place), expected, got }
    }),
    trace: simulation === null ? '' : traceLine(simulation),
  }
}

/** Finds places in a file by parsing it again, since the first reader keeps none. */
class FilePlaces {
  #file: ReadFile | undefined
  #document: YamlDocument | undefined
  #lines: LineTable | undefined

  positionOf(file: ReadFile, place: Place): Position {
    if (this.#file !== file) {
      this.#file = file
      this.#document = readYaml(file.text)
      this.#lines = new LineTable(file.text)
    }
    return this.#lines!.positionOf(this.#document!.spanOf(place).start)
  }
}
