// Checks of type script: exactly one of a program and its text.
import { programPathPattern } from '#lib/text/patterns.ts'
import { text } from './check-field.ts'
import { keyAt, valueAt } from './probe-type.ts'
import type { CheckDiagnostics, CheckOf, CheckReport, ProbeType } from './probe-type.ts'

const fields = {
  scriptPath: text({
    maxLength: 4_096,
    pattern: programPathPattern,
    default: '',
    description: 'Program on the node that type `script` runs: an absolute path.',
  }),
  scriptContent: text({
    maxLength: 65_536,
    default: '',
    description:
      'Program text that type `script` runs, by the interpreter that its first line names with ' +
      '`#!`, else by `/bin/sh`. Goes before `scriptPath`.',
  }),
}

const diagnostics = {
  'health-check-script-missing': {
    severity: 'error',
    message: 'a check of type script names no script',
    help: 'add scriptContent or scriptPath',
    cause: 'There is nothing to run, so that no member could ever be healthy.',
    bad: 'healthCheck: { type: script }',
    good: 'healthCheck: { type: script, scriptPath: /usr/lib/gslbd/check }',
  },
  'health-check-script-twice': {
    severity: 'warning',
    message: 'scriptPath has no effect beside scriptContent',
    help: 'keep one of the two',
    cause: 'The text goes before the program of the node.',
    bad: 'healthCheck: { type: script, scriptPath: /usr/lib/gslbd/check, scriptContent: exit 0 }',
    good: 'healthCheck: { type: script, scriptPath: /usr/lib/gslbd/check }',
  },
} as const satisfies CheckDiagnostics

export const script = {
  name: 'script',
  does: 'runs a program of the node',
  port: 'passed on',
  measuresNothing: true,
  fields,
  diagnostics,
  findFaults,
} as const satisfies ProbeType

function findFaults(
  { type, scriptContent, scriptPath }: CheckOf<typeof fields>,
  report: CheckReport<keyof typeof diagnostics>,
): void {
  if (type !== 'script') return
  if (scriptContent === '' && scriptPath === '') {
    report('health-check-script-missing', valueAt('type'))
  } else if (scriptContent !== '' && scriptPath !== '') {
    report('health-check-script-twice', keyAt('scriptPath'))
  }
}
