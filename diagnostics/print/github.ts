// Prints diagnostics as workflow commands of GitHub Actions, which become annotations.
import type { DiagnosticReport } from '#diagnostics/diagnostic.ts'
import { hintOf } from '#diagnostics/diagnostics.ts'
import { jsonDiagnostics } from './json.ts'

const commandOf: Readonly<Record<string, string>> = Object.freeze({
  error: 'error',
  warning: 'warning',
  note: 'notice',
})

export function printGithub(report: DiagnosticReport): string {
  return jsonDiagnostics(report)
    .map(({ code, severity, message, help, suggestion, places: [first, ...others] }) => {
      const place = `file=${property(first!.path)},line=${first!.line},col=${first!.column}`
      // GitHub ignores endColumn when the lines differ.
      const end = first!.line === first!.endLine ? `,endColumn=${first!.endColumn}` : ''
      const lines = [message]
      for (const { path, line, column } of others) lines.push(`see ${path}:${line}:${column}`)
      const hint = hintOf(suggestion, help)
      if (hint !== '') lines.push(hint)
      lines.push(`help: ${help}`)
      return (
        `::${commandOf[severity]} ` +
        `${place}${end},title=${property(code)}::${data(lines.join('\n'))}\n`
      )
    })
    .join('')
}

function data(text: string): string {
  return text.replaceAll('%', '%25').replaceAll('\r', '%0D').replaceAll('\n', '%0A')
}

function property(text: string): string {
  return data(text).replaceAll(':', '%3A').replaceAll(',', '%2C')
}
