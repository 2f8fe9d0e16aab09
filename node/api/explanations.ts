// Explains codes for the API: diagnostics of the compiler, and reasons of Git.
import type { Explanation } from '#ports/simulator.ts'
import { diagnosticSpecs } from '#diagnostics/diagnostics.ts'
import type { DiagnosticCode } from '#diagnostics/diagnostics.ts'
import { reasonSpecs } from '#gitops/status/reasons.ts'

/** @param code in any case */
export function explanationOf(code: string): Explanation | undefined {
  const isIt = (known: string): boolean => known.toLowerCase() === code.toLowerCase()
  const reason = (Object.keys(reasonSpecs) as (keyof typeof reasonSpecs)[]).find(isIt)
  if (reason !== undefined) {
    const { sync, cause, remedy } = reasonSpecs[reason]
    const message = sync === 'held' ? 'the new commit is held' : 'the configuration cannot be read'
    return { code: reason, severity: sync, message, cause, help: remedy, bad: '', good: '' }
  }
  const diagnostic = (Object.keys(diagnosticSpecs) as DiagnosticCode[]).find(isIt)
  if (diagnostic === undefined) return undefined
  const { severity, message, help, cause, bad, good } = diagnosticSpecs[diagnostic]
  const plain = (text: string): string => text.replaceAll('%s', '…')
  return {
    code: diagnostic,
    severity,
    message: plain(message),
    cause,
    help: plain(help),
    bad,
    good,
  }
}
