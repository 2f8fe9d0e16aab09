// `gslbd explain`: explains a diagnostic, with a wrong and a right example.
import { diagnosticCodes, diagnosticSpecs } from '#diagnostics/diagnostics.ts'
import type { DiagnosticCode } from '#diagnostics/diagnostics.ts'
import { reasonSpecs } from '#gitops/status/reasons.ts'
import { didYouMean } from '#lib/suggest.ts'
import { atMostOne, commandLine, Exit, UsageError } from '#system/process/command.ts'
import type { Command } from '#system/process/command.ts'

const usage = `Usage: gslbd explain [CODE]

Explains a diagnostic of gslbd check, such as pool-unknown, or a reason for which a commit is not
taken, such as Unsigned; without CODE, lists them all.`

export const explain: Command = {
  name: 'explain',
  usage,
  async run(args, io) {
    const { positionals } = commandLine(args, {})
    const code = atMostOne(positionals, 'give one code')
    if (code === undefined) {
      io.out([...diagnosticCodes.map(line), ...reasonCodes.map(reasonLine)].join(''))
      return Exit.Ok
    }
    const reason = reasonCodes.find((known) => known.toLowerCase() === code.toLowerCase())
    if (reason !== undefined) io.out(reasonPage(reason))
    else if (isCode(code)) io.out(page(code))
    else {
      const hint = didYouMean(code, [...diagnosticCodes, ...reasonCodes])
      throw new UsageError(`there is no diagnostic "${code}"${hint}`)
    }
    return Exit.Ok
  },
}

const reasonCodes = Object.keys(reasonSpecs) as readonly (keyof typeof reasonSpecs)[]

function reasonLine(code: keyof typeof reasonSpecs): string {
  const { sync, cause } = reasonSpecs[code]
  // The first sentence is enough to find the row.
  const [first = ''] = cause.split(/[.:] /, 1)
  return `${code.padEnd(28)} ${sync.padEnd(11)} ${first.replace(/\.$/, '')}\n`
}

function reasonPage(code: keyof typeof reasonSpecs): string {
  const { sync, cause, remedy } = reasonSpecs[code]
  const what =
    sync === 'held'
      ? 'the new commit is held until somebody acts'
      : 'the configuration cannot be read; tried again with growing pauses'
  return [
    `${sync} ${code}: ${what}`,
    '',
    cause,
    `To do: ${remedy}`,
    '',
    'The commit accepted before goes on serving.',
    '',
  ].join('\n')
}

function isCode(text: string): text is DiagnosticCode {
  return Object.hasOwn(diagnosticSpecs, text)
}

function line(code: DiagnosticCode): string {
  const { severity, message } = diagnosticSpecs[code]
  return `${code.padEnd(28)} ${severity.padEnd(11)} ${message.replaceAll('%s', '…')}\n`
}

function page(code: DiagnosticCode): string {
  const { severity, message, help, cause, bad, good } = diagnosticSpecs[code]
  return [
    `${severity} ${code}: ${message.replaceAll('%s', '…')}`,
    '',
    cause,
    `To do: ${help.replaceAll('%s', '…')}.`,
    '',
    'Causes it:',
    indented(bad),
    '',
    'Does not:',
    indented(good),
    '',
  ].join('\n')
}

function indented(text: string): string {
  return text.replace(/^/gm, '    ')
}
