// The reference page of the diagnostics, written from their table.
import { diagnosticCodes, diagnosticSpecs } from '#diagnostics/diagnostics.ts'
import type { DiagnosticCode } from '#diagnostics/diagnostics.ts'

const introduction = `# Diagnostics

Written from the table by \`GSLBD_UPDATE=1 npx vitest run test/unit/compiler\`; do not edit.

What \`gslbd check\` can say. An *error* stops the compilation, and the last good configuration goes
on serving; a *warning* and a *note* do not. \`gslbd explain CODE\` prints the same.
`

export function diagnosticsReference(): string {
  return [introduction, ...diagnosticCodes.map(section)].join('\n')
}

function section(code: DiagnosticCode): string {
  const { severity, message, help, cause, bad, good } = diagnosticSpecs[code]
  return `## ${code}

*${severity}*: ${message.replaceAll('%s', '…')}

${cause} To do: ${help.replaceAll('%s', '…')}.

Causes it:

\`\`\`yaml
${bad}
\`\`\`

Does not:

\`\`\`yaml
${good}
\`\`\`
`
}
