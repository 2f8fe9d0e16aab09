// What the Git side says of its state, as lines of the log.
import type { GitopsStatus } from '#gitops/status.ts'
import type { ProcessLog } from './log.ts'

/** By the severity of a diagnostic. */
const logLevelOf = { error: 'error', warning: 'warn', note: 'info' } as const

/** @param change '' or lines, of which the first is a sentence; told once */
export function logGitopsChange(log: ProcessLog, status: GitopsStatus, change: string): void {
  if (change === '') return
  const { head, accepted, code, sync, diagnostics } = status
  const isBad = sync === 'held' || sync === 'unreachable'
  const write = isBad ? log.warn : log.info
  // The lines after the first are the diagnostics as a terminal shows them; a log takes one line
  // for each.
  const [headline = ''] = change.split('\n', 1)
  write({ head: head?.commit, accepted: accepted?.commit, code }, headline)
  for (const { severity, file, line, column, code: name, message, help } of diagnostics) {
    const tell = log[logLevelOf[severity]]
    tell({ code: name, help }, `${file}:${line}:${column}: ${message}`)
  }
}
