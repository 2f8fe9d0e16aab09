// Prints diagnostics as SARIF 2.1.0, which code hosts show beside the lines of a change.
import { hash } from 'node:crypto'
import { version } from '#lib/version.ts'
import type { DiagnosticReport } from '#diagnostics/diagnostic.ts'
import { diagnosticSpecs } from '#diagnostics/diagnostics.ts'
import type { DiagnosticCode } from '#diagnostics/diagnostics.ts'
import { jsonDiagnostics } from './json.ts'
import type { JsonDiagnostic, JsonPlace } from './json.ts'

export function printSarif(report: DiagnosticReport): string {
  const found = jsonDiagnostics(report)
  const codes = [...new Set(report.diagnostics.map(({ code }) => code))].sort()
  const log = {
    $schema: 'https://json.schemastore.org/sarif-2.1.0.json',
    version: '2.1.0',
    runs: [
      {
        tool: { driver: { name: 'gslbd', version, rules: codes.map(ruleOf) } },
        columnKind: 'utf16CodeUnits',
        results: found.map((one) => resultOf(one, codes)),
      },
    ],
  }
  return `${JSON.stringify(log, null, 2)}\n`
}

function ruleOf(code: DiagnosticCode) {
  const { severity, help, cause } = diagnosticSpecs[code]
  return {
    id: code,
    shortDescription: { text: cause },
    help: { text: `${help.replaceAll('%s', '…')}. See "gslbd explain ${code}".` },
    defaultConfiguration: { level: severity },
  }
}

function resultOf(one: JsonDiagnostic, codes: readonly string[]) {
  const [first, ...others] = one.places
  const meant = one.suggestion === '' ? '' : ` Did you mean "${one.suggestion}"?`
  return {
    ruleId: one.code,
    ruleIndex: codes.indexOf(one.code),
    level: one.severity,
    message: { text: `${one.message}. ${one.help}.${meant}` },
    locations: [locationOf(first!)],
    ...(others.length === 0 ? {} : { relatedLocations: others.map(locationOf) }),
    // Without the line, so that a finding stays the same finding when lines above it change.
    partialFingerprints: {
      'gslbd/v1': hash('sha256', JSON.stringify([one.code, first!.path, one.message])),
    },
  }
}

function locationOf({ path, line, column, endLine, endColumn }: JsonPlace) {
  return {
    physicalLocation: {
      artifactLocation: { uri: path.split('/').map(encodeURIComponent).join('/') },
      region: { startLine: line, startColumn: column, endLine, endColumn },
    },
  }
}
