// Prints the result of `gslbd test` for people, and as JUnit XML for programs that show tests.
import type { SimulationHeading } from '#judge/simulate/print.ts'
import { printSimulation } from '#judge/simulate/print.ts'
import type { Coverage, Covered } from './coverage.ts'
import type { ReportedCase, TestReport } from './report.ts'
import type { CaseResult } from './run.ts'

/** @param shown results of the cases in their order: failed cases are printed with their trace */
export function printReport(report: TestReport, shown: readonly CaseResult[]): string {
  const blocks = report.cases.flatMap((one, i) =>
    one.outcome === 'failed' ? [failureText(one, shown[i]!)] : [],
  )
  const byFile = Map.groupBy(report.cases, ({ file }) => file)
  const files = [...byFile].map(([file, cases]) => fileLine(file, cases))
  const failed = report.failed === 0 ? '' : `${report.failed} failed, `
  const summary = `${failed}${report.passed} passed of ${plural(report.cases.length, 'case')}\n`
  const coverage = report.coverage === undefined ? '' : `\n${coverageText(report.coverage)}`
  return `${files.join('')}\n${blocks.map((block) => `${block}\n`).join('')}${summary}${coverage}`
}

function fileLine(file: string, cases: readonly ReportedCase[]): string {
  const failed = cases.filter(({ outcome }) => outcome === 'failed').length
  const what = failed === 0 ? '' : `, ${failed} failed`
  return `${failed === 0 ? 'ok    ' : 'FAILED'}  ${file} (${plural(cases.length, 'case')}${what})\n`
}

function failureText(one: ReportedCase, { simulation, case: asked }: CaseResult): string {
  const { title, file, line, column, fault, failures } = one
  const lines = [`FAILED  ${title}`, `        ${file}:${line}:${column}`]
  if (fault !== '') lines.push(`        ${fault}`)
  for (const failure of failures) {
    lines.push(
      '',
      `  ${failure.field} (${file}:${failure.line}:${failure.column})`,
      `    - expected  ${failure.expected}`,
      `    + got       ${failure.got}`,
    )
  }
  if (simulation !== null) {
    const { name = '', type = 'A', subnet = null, at, seed = 1 } = asked.given
    const heading: SimulationHeading = {
      ...{ name, type, client: subnet, at: at ?? null, seed },
      nowMs: at === undefined ? 0 : Date.parse(at),
      overlays: null,
    }
    const trace = printSimulation(heading, simulation).trimEnd().split('\n')
    lines.push('', '  how it was answered', ...trace.map((text) => `    ${text}`))
  }
  return `${lines.map(printable).join('\n')}\n`
}

function coverageText({ services, steps, geoRules, responseRules }: Coverage): string {
  return [
    coverageLine('services', services),
    coverageLine('steps of chains', steps),
    coverageLine('pools with geo rules', geoRules),
    coverageLine('response rules', responseRules),
  ].join('')
}

function coverageLine(what: string, { covered, total, missing }: Covered): string {
  if (total === 0) return `${what.padEnd(22)}none\n`
  const percent = Math.floor((covered * 100) / total)
  const left = total - covered - missing.length
  const more = left > 0 ? ` and ${left} more` : ''
  const not = missing.length === 0 ? '' : `; not asked: ${missing.join(', ')}${more}`
  return `${what.padEnd(22)}${covered} of ${total} (${percent} %)${printable(not)}\n`
}

function plural(count: number, word: string): string {
  return `${count} ${word}${count === 1 ? '' : 's'}`
}

/** Formats JUnit XML as CI services read it, with one suite for each file. */
export function printJunit({ cases, failed }: TestReport): string {
  const byFile = Map.groupBy(cases, ({ file }) => file)
  const suites = [...byFile].map(([file, own]) => {
    const bad = own.filter(({ outcome }) => outcome === 'failed').length
    const head = `<testsuite name="${xml(file)}" tests="${own.length}" failures="${bad}">`
    return `  ${head}\n${own.map(junitCase).join('')}  </testsuite>\n`
  })
  const top = `<testsuites name="gslbd" tests="${cases.length}" failures="${failed}">`
  return `<?xml version="1.0" encoding="UTF-8"?>\n${top}\n${suites.join('')}</testsuites>\n`
}

function junitCase(one: ReportedCase): string {
  const { title, test, file, line, outcome, fault, failures, trace } = one
  const place = `classname="${xml(test)}" file="${xml(file)}" line="${line}"`
  const head = `    <testcase name="${xml(title)}" ${place}`
  if (outcome === 'passed') return `${head}/>\n`
  const texts = failures.map(
    ({ field, expected, got }) => `${field}: expected ${expected}, got ${got}`,
  )
  const message = [...(fault === '' ? [] : [fault]), ...texts].join('; ')
  return `${head}>\n      <failure message="${xml(message)}">${xml(trace)}</failure>\n    </testcase>\n`
}

/** XML 1.0 section 2.2 forbids most control characters. */
function xml(text: string): string {
  return printable(text)
    .replaceAll('&', '&amp;')
    .replaceAll('<', '&lt;')
    .replaceAll('>', '&gt;')
    .replaceAll('"', '&quot;')
    .toWellFormed()
}

/** Replaces control characters: a file must not move the cursor or set colours of a terminal. */
function printable(text: string): string {
  return text.replace(/[\u0000-\u001f\u007f-\u009f\u202a-\u202e\u2066-\u2069\ufffe\uffff]/g, '?')
}
