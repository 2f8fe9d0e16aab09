// Logs changes of the GitOps status.
import { hash } from 'node:crypto'
import { isOfDisk, ownFault } from '#gitops/status/status.ts'
import type { GitopsStatus, HeadDiagnostic } from '#gitops/status/status.ts'
import type { ProcessLog } from '#process/log.ts'

/** By the severity of a diagnostic. */
const logLevelOf = { error: 'error', warning: 'warn', note: 'info' } as const

/** How many findings of the accepted commit are remembered, so that they are not logged again. */
const knownMax = 1_000

/** Findings by an identity that does not change when lines move. */
type Findings = ReadonlyMap<string, HeadDiagnostic>

/** The findings of the last accepted commit: their files, and how many each identity had. */
interface Known {
  readonly files: ReadonlyMap<string, string>
  readonly total: number
}

/**
 * Logs only findings that the last accepted commit did not have: otherwise each write would repeat
 * every warning of the whole configuration.
 *
 * @returns a function that receives each status with '' or lines, of which the first is a sentence
 */
export function createGitopsLog(log: ProcessLog): (status: GitopsStatus, change: string) => void {
  let known: Known = { files: new Map(), total: 0 }
  /** The last logged line of acceptance, if nothing followed; a restarted worker repeats it. */
  let acceptedLogged = ''
  return (status, change) => {
    if (change === '') return
    // A bug changes no status, and is logged each time.
    if (change.startsWith(ownFault)) return logFault(log, status, change)
    const accepted = status.sync === 'synced' ? (status.accepted?.commit ?? '') : ''
    if (accepted !== '' && accepted === acceptedLogged) return
    acceptedLogged = accepted
    logHeadline(log, status, change)
    const isAccepted = status.sync === 'synced'
    // Other reasons precede the compilation, and have no findings.
    if (!isAccepted && status.code !== 'CompileFailed') return
    const findings = byIdentity(status.diagnostics)
    const now = isAccepted ? knownFrom(findings, status, known) : known
    logFindings(log, { findings, status, known, now })
    known = now
  }
}

function logHeadline(log: ProcessLog, status: GitopsStatus, change: string): void {
  const { head, accepted, code, sync } = status
  const isBad = sync === 'held' || sync === 'unreachable'
  // The other lines are diagnostics as a terminal shows them; the log has a line for each.
  const [headline = ''] = change.split('\n', 1)
  const write = isOfDisk(code) ? log.error : isBad ? log.warn : log.info
  write({ head: head?.commit, accepted: accepted?.commit, code }, headline)
}

function logFault(log: ProcessLog, { head, accepted }: GitopsStatus, line: string): void {
  log.error({ head: head?.commit, accepted: accepted?.commit }, line)
}

interface FindingsChange {
  readonly findings: Findings
  readonly status: GitopsStatus
  /** Findings known before this status, and after it. */
  readonly known: Known
  readonly now: Known
}

function logFindings(log: ProcessLog, { findings, status, known, now }: FindingsChange): void {
  let unchanged = 0
  for (const [identity, finding] of findings) {
    if (known.files.has(identity)) unchanged++
    else logFinding(log, finding)
  }
  const isGone = known.files.keys().some((identity) => !now.files.has(identity))
  const isSame = unchanged === findings.size && !isGone && now.total === known.total
  if (isSame) return
  if (unchanged > 0) log.info({ unchanged }, 'warnings and notes were logged before')
  const more = status.diagnosticsTotal - findings.size
  if (more > 0) log.info({}, `and ${more} more; \`gslbd check\` shows all`)
}

function logFinding(log: ProcessLog, finding: HeadDiagnostic): void {
  const { severity, file, line, column, code, message, help } = finding
  log[logLevelOf[severity]]({ code, help }, `${file}:${line}:${column}: ${message}`)
}

/** Identity without line and column. Findings with equal fields are numbered. */
function byIdentity(diagnostics: readonly HeadDiagnostic[]): Findings {
  const findings = new Map<string, HeadDiagnostic>()
  for (const finding of diagnostics) {
    const { code, file, message } = finding
    // A hash, since a message may quote much of a file.
    const alike = hash('sha256', JSON.stringify([code, file, message]), 'base64')
    let number = 1
    while (findings.has(`${alike} ${number}`)) number++
    findings.set(`${alike} ${number}`, finding)
  }
  return findings
}

/**
 * In a list that was cut, the last file and later ones may have further findings: what was known of
 * them is kept, so that it is not logged as new when it appears in the list again.
 */
function knownFrom(findings: Findings, { diagnosticsTotal }: GitopsStatus, before: Known): Known {
  const files = new Map<string, string>()
  for (const [identity, { file }] of findings) files.set(identity, file)
  const last = findings.size < diagnosticsTotal ? [...files.values()].at(-1) : undefined
  for (const [identity, file] of before.files) {
    if (files.size >= knownMax || last === undefined) break
    if (file >= last) files.set(identity, file)
  }
  return { files, total: diagnosticsTotal }
}
