// Renders the page of a node that pulls: what it serves, from where, and what it refused. Without
// scripts.
import { hash } from 'node:crypto'
import { escapedHtml as escaped } from '#lib/text/html.ts'
import type { NodeReport } from '#fleet/nodes/node-report.ts'
import type { PullStatus } from './puller.ts'

export interface PageFacts {
  readonly report: NodeReport
  readonly health: string
  /** Reasons, in sentences. */
  readonly reasons: readonly string[]
  readonly pull: Pick<PullStatus, 'sources' | 'contactSecondsAgo'>
  readonly nowMs: number
}

const style =
  'body{font:15px/1.5 system-ui,sans-serif;margin:2rem auto;max-width:60rem;padding:0 1rem}' +
  'th{text-align:left;padding-right:2rem;vertical-align:top;font-weight:600}td{overflow-wrap:anywhere}'

/** Nothing is loaded, run or framed; the one style sheet is named by its digest. */
export const pagePolicy =
  `default-src 'none'; style-src 'sha256-${hash('sha256', style, 'base64')}'; ` +
  "base-uri 'none'; form-action 'none'; frame-ancestors 'none'"

export function statusPage({ report, health, reasons, pull, nowMs }: PageFacts): string {
  const { name, labels, version, seq, digest, issuedAtMs, startedAtMs, counters } = report
  const labelled = Object.entries(labels).map(([key, value]) => `${key}=${value}`)
  const contact = pull.contactSecondsAgo
  const rows: readonly (readonly [string, string])[] = [
    ['Health', [health, ...reasons].join('. ')],
    ['Labels', labelled.join(', ') || 'none'],
    ['Version', version],
    ['Up for', span(nowMs - startedAtMs)],
    ['Serves', digest === null ? 'nothing yet' : `seq ${seq}, ${digest}`],
    ['Confirmed', issuedAtMs === null ? 'never' : `${span(nowMs - issuedAtMs)} ago`],
    ['Last contact', contact === null ? 'none since the start' : `${span(contact * 1000)} ago`],
    ['Queries', String(counters.queries)],
    ['SERVFAIL', String(counters.servfail)],
    ['Members', membersOf(counters)],
  ]
  const sources = pull.sources.map(
    ({ name: source, fault }) =>
      [source, fault === null ? 'works, or was not asked' : fault.message] as const,
  )
  const refusals = report.refusals.toReversed().map(({ atMs, code, reason, digest: refused }) => {
    const when = new Date(Math.min(atMs, dateMsMax)).toISOString()
    return [`${when} ${code}`, `${reason} ${refused}`] as const
  })
  return [
    '<!doctype html><html lang="en"><head><meta charset="utf-8">',
    '<meta name="viewport" content="width=device-width"><meta http-equiv="refresh" content="10">',
    `<title>${escaped(name)}: gslbd</title><style>${style}</style></head><body>`,
    `<h1>${escaped(name)}</h1>${table(rows)}`,
    `<h2>Sources</h2>${table(sources)}`,
    `<h2>Refused lately</h2>${refusals.length === 0 ? '<p>Nothing.</p>' : table(refusals)}`,
    '</body></html>',
  ].join('\n')
}

/** The largest time of ECMA-262 section 21.4.1.1. */
const dateMsMax = 8.64e15

function table(rows: readonly (readonly [string, string])[]): string {
  const lines = rows.map(([head, text]) => `<tr><th>${escaped(head)}<td>${escaped(text)}`)
  return `<table>\n${lines.join('\n')}\n</table>`
}

function membersOf(counters: NodeReport['counters']): string {
  const { membersHealthy, membersDown, membersWarming, membersUnprobed = 0 } = counters
  const { membersUnresolved = 0 } = counters
  const unprobed = membersUnprobed === 0 ? '' : `, ${membersUnprobed} not probed`
  const rest =
    unprobed + (membersUnresolved === 0 ? '' : `, ${membersUnresolved} without an address`)
  const healthy = membersHealthy - membersUnprobed
  return `${healthy} healthy, ${membersDown} down, ${membersWarming} warming up${rest}`
}

function span(durationMs: number): string {
  const seconds = Math.max(0, Math.floor(durationMs / 1000))
  if (seconds < 120) return `${seconds} s`
  if (seconds < 7_200) return `${Math.floor(seconds / 60)} min`
  return seconds < 172_800
    ? `${Math.floor(seconds / 3_600)} h`
    : `${Math.floor(seconds / 86_400)} days`
}
