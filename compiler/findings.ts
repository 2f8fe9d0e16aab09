// Collects the findings of all stages and sorts them into one fixed order.
import { diagnosticsMax, notesPerCodeMax } from '#diagnostics/diagnostic.ts'
import type {
  Diagnostic,
  DiagnosticReport,
  LocalSpan,
  Place,
  SourceSpan,
} from '#diagnostics/diagnostic.ts'
import type { Severity } from '#diagnostics/diagnostic-spec.ts'
import { diagnosticSpecs } from '#diagnostics/diagnostics.ts'
import type { DiagnosticCode } from '#diagnostics/diagnostics.ts'
import type { ReadFile } from './read/read-file.ts'
import type { EntryPlace, TreeReport } from './tree/tree.ts'
import { readYaml } from './yaml/document.ts'
import type { YamlDocument } from './yaml/document.ts'
import { byCodeUnits } from '#lib/sequence/order.ts'

/** A span, or a place whose span is looked up only when the finding is shown. */
type Where = SourceSpan | EntryPlace

interface Finding {
  readonly code: DiagnosticCode
  readonly args: readonly string[]
  readonly suggestion: string
  readonly where: readonly [Where, ...Where[]]
}

const severities = ['error', 'warning', 'note'] as const

export class Findings {
  readonly #findings: Finding[] = []
  readonly #texts = new Map<string, string>()
  readonly #counts: Record<Severity, number> = { error: 0, warning: 0, note: 0 }

  get errorCount(): number {
    return this.#counts.error
  }

  /** Adds a finding about a path as a whole. */
  addForPath(code: DiagnosticCode, path: string, args: readonly string[] = []): void {
    this.#add({ code, args, suggestion: '', where: [{ path, start: 0, end: 1 }] })
  }

  addForFile(path: string, file: ReadFile): void {
    if (file.findings.length === 0) return
    this.#texts.set(path, file.text)
    for (const severity of severities) this.#counts[severity] += file.findingsLeftOut[severity]
    for (const { code, args, suggestion, spans } of file.findings) {
      const [first, ...others] = spans.map((span) => ({ path, ...span }))
      this.#add({ code, args, suggestion, where: [first!, ...others] })
    }
  }

  readonly addForTree: TreeReport = (code, at, { args = [], suggestion = '', other } = {}) => {
    this.#add({ code, args, suggestion, where: other === undefined ? [at] : [at, other] })
  }

  #add(finding: Finding): void {
    this.#findings.push(finding)
    this.#counts[diagnosticSpecs[finding.code].severity]++
  }

  /**
   * Lists errors before warnings when not all fit, and only a few notes of each code.
   *
   * @param listsRemarks false: warnings and notes are counted but not listed
   */
  report(listsRemarks = true): DiagnosticReport {
    const wanted = listsRemarks ? this.#findings : this.#findings.filter(isError)
    const byPath = withFewNotes(
      wanted.toSorted((a, b) => rank(a) - rank(b) || byCodeUnits(a.where[0].path, b.where[0].path)),
    )
    const resolver = new SpanResolver()
    const diagnostics = byPath
      .slice(0, diagnosticsMax)
      .map((finding) => this.#resolve(finding, resolver))
      .toSorted(
        (a, b) =>
          byCodeUnits(a.spans[0].path, b.spans[0].path) ||
          a.spans[0].start - b.spans[0].start ||
          byCodeUnits(a.code, b.code) ||
          byCodeUnits(a.args.join(), b.args.join()),
      )
    const shown = new Set(diagnostics.flatMap(({ spans }) => spans.map(({ path }) => path)))
    const sources = new Map([...this.#texts].filter(([path]) => shown.has(path)))
    const { error, warning, note } = this.#counts
    return { diagnostics, total: error + warning + note, counts: { ...this.#counts }, sources }
  }

  #resolve({ code, args, suggestion, where }: Finding, resolver: SpanResolver): Diagnostic {
    const [first, ...others] = where.map((one) => {
      if (!('place' in one)) return one
      this.#texts.set(one.path, one.file.text)
      return { path: one.path, ...resolver.spanOf(one.file, one.place) }
    })
    return {
      code,
      severity: diagnosticSpecs[code].severity,
      args,
      suggestion,
      spans: [first!, ...others],
      field: 'place' in where[0] ? where[0].place.path.join('.') : '',
    }
  }
}

const isError = ({ code }: Finding): boolean => diagnosticSpecs[code].severity === 'error'

const severityRank = { error: 0, warning: 1, note: 2 } as const

function rank({ code }: Finding): number {
  return severityRank[diagnosticSpecs[code].severity]
}

/** The first notes of each code show what the others would, and leave room. */
function withFewNotes(findings: readonly Finding[]): Finding[] {
  const times = new Map<DiagnosticCode, number>()
  return findings.filter(({ code }) => {
    if (diagnosticSpecs[code].severity !== 'note') return true
    const time = (times.get(code) ?? 0) + 1
    times.set(code, time)
    return time <= notesPerCodeMax
  })
}

/**
 * Parses a file again when a finding points into it: keeping the nodes of all files would take ten
 * times the memory, and findings are rare. Resolved spans are kept with the file.
 */
class SpanResolver {
  #file: ReadFile | undefined
  #document: YamlDocument | undefined

  spanOf(file: ReadFile, place: Place): LocalSpan {
    const key = `${place.at} ${place.character ?? ''} ${place.path.join('/')}`
    const spans = (file.memo.spans ??= new Map<string, LocalSpan>())
    let span = spans.get(key)
    if (span === undefined) {
      if (this.#file !== file || this.#document === undefined) {
        this.#file = file
        this.#document = readYaml(file.text)
      }
      span = this.#document.spanOf(place)
      spans.set(key, span)
    }
    return span
  }
}
