// Prints a past answer for people: the answer, its commit, and how it was chosen.
import { printSimulation } from '#judge/simulate/print.ts'
import type { PastReport } from './look-back.ts'

interface WhyHeading {
  readonly name: string
  readonly type: string
  readonly client: string | null
}

/** Names both the setting and the option, since the report may be a node's or of files. */
const settingsHint = 'geoip.dbPath in the settings (--settings FILE)'

/** @param showsAuthors whether the reader may know who made the commit */
export function printReport(heading: WhyHeading, report: PastReport, showsAuthors = true): string {
  const at = new Date(report.atMs).toISOString()
  const { simulation, atMs: nowMs } = report
  const { service } = simulation
  // Shares of a thousand draws are left out; the computed ones follow.
  const shown =
    service === null ? simulation : { ...simulation, service: { ...service, distribution: [] } }
  const trace = printSimulation(
    { ...heading, at, nowMs, overlays: [], seed: 1, databaseFrom: settingsHint },
    shown,
  )
  return [
    ...whoLines(report, showsAuthors),
    trace.trimEnd(),
    ...shareLines(report),
    ...report.notes.map((note) => row('note', note)),
    '',
  ].join('\n')
}

function whoLines(report: PastReport, showsAuthors: boolean): string[] {
  const { node, commit, digest, sinceMs, bundleFrom } = report
  const since =
    sinceMs === null
      ? 'since before the journal begins'
      : `since ${new Date(sinceMs).toISOString()}`
  const words =
    commit === null
      ? []
      : [
          row('commit', commit.subject === null ? commit.id : `${commit.id} ${commit.subject}`),
          ...(showsAuthors ? [row('', byWhom(commit))] : []),
        ]
  return [
    row('node', `${node}, bundle ${digest.slice(0, 12)} ${since} (from ${bundleFrom})`),
    ...words,
  ]
}

function byWhom({ author, date }: NonNullable<PastReport['commit']>): string {
  return author === null ? 'not in a repository here' : `by ${author}, ${date ?? ''}`
}

function shareLines({ isCertain, shares, mayAnswer }: PastReport): string[] {
  if (isCertain) return [row('certain', 'neither dice nor turns had a part in it')]
  if (shares.length + mayAnswer.length === 0) {
    return [row('unsure', 'what the notes name may have made another answer')]
  }
  const rows = shares.map(({ member, probability }) =>
    row('', `${member.padEnd(20)} ${(probability * 100).toFixed(1)} %`),
  )
  const rest = mayAnswer.filter((address) => !shares.some(({ member }) => member === address))
  const or = rows.length === 0 ? 'one of' : 'or'
  return [
    shares.length > 1
      ? row('chance', 'dice or turns chose; the answer above is one of these, by who stood first')
      : row('unsure', 'what the notes name may have made another answer than this'),
    ...rows,
    ...(rest.length === 0 ? [] : [row('', `${or} ${rest.join(', ')}`)]),
  ]
}

function row(label: string, text: string): string {
  return `${label.padEnd(10)}${text}`
}
