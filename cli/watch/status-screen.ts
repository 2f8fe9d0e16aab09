// Prints a status report: health, Git, bundle and nodes in one screen.
import { columns, strong } from '#cli/terminal/paint.ts'
import type { Cell, Paint, Row, Tone } from '#cli/terminal/paint.ts'
import { isFalseAt, isTrueAt, listAt, numberAt, textAt, textsAt } from './json-fields.ts'
import type { StatusReport } from './status-report.ts'

const toneOfHealth: Readonly<Record<string, Tone>> = {
  ok: 'good',
  starting: 'warning',
  degraded: 'bad',
}
const toneOfSync: Readonly<Record<string, Tone>> = { synced: 'good', held: 'bad' }
const hashChars = 12
const diagnosticsMax = 10

/** @param nowMs Unix epoch */
export function statusScreen(report: StatusReport, nowMs: number, paint: Paint): string {
  const parts = [healthRows(report), gitRows(report), bundleRows(report)].flat()
  const lines = [...columns(parts, paint), ...nodeLines(report, paint)]
  lines.push(...sourceLines(report, nowMs, paint), ...zoneLines(report, nowMs, paint))
  for (const fault of report.faults) lines.push(paint('bad', fault))
  return `${lines.join('\n')}\n`
}

function healthRows({ url, health, ready }: StatusReport): Row[] {
  const status = textAt(health, 'status')
  const isReady = textAt(ready, 'status') === 'ready'
  const rows: Row[] = [
    [strong('node'), url],
    [strong('health'), { text: status, tone: toneOfHealth[status] ?? 'warning' }],
  ]
  for (const reason of listAt(health, 'reasons')) rows.push(['', said(reason)])
  if (ready === null || isReady) return rows
  rows.push([strong('ready'), { text: 'no', tone: 'bad' }])
  const known = new Set(rows.map(([, text]) => text))
  for (const reason of listAt(ready, 'reasons')) {
    if (!known.has(said(reason))) rows.push(['', said(reason)])
  }
  return rows
}

function said(reason: unknown): string {
  return `${textAt(reason, 'code')}: ${textAt(reason, 'message')}`
}

function gitRows({ gitops }: StatusReport): Row[] {
  if (gitops === null) return []
  const sync = textAt(gitops, 'sync')
  const branch = textAt(gitops, 'branch')
  const rows: Row[] = [
    [strong('git'), { text: `${sync}  branch ${branch}`, tone: toneOfSync[sync] ?? 'warning' }],
  ]
  const [head, accepted, active] = ['head', 'accepted', 'active'].map((stage) =>
    textAt(gitops, stage),
  )
  const isOne = head === accepted && accepted === active
  const commits = isOne
    ? `head, accepted, active ${short(head)}`
    : `head ${short(head)}  accepted ${short(accepted)}  active ${short(active)}`
  rows.push(['', commits])
  if (textAt(gitops, 'reason', 'code') !== '') {
    const { reason } = gitops as { readonly reason: unknown }
    rows.push(['', { text: said(reason), tone: 'bad' }])
  }
  const diagnostics = listAt(gitops, 'diagnostics')
  for (const one of diagnostics.slice(0, diagnosticsMax)) rows.push(['', diagnosticCell(one)])
  const more = diagnostics.length - diagnosticsMax
  if (more > 0) rows.push(['', `and ${more} more: GET /api/v1/gitops/status`])
  return rows
}

function diagnosticCell(one: unknown): Cell {
  const place = [textAt(one, 'file'), numberAt(one, 'line'), numberAt(one, 'column')].join(':')
  const text = `${place} ${textAt(one, 'code')}: ${textAt(one, 'message')}`
  return { text, tone: textAt(one, 'severity') === 'error' ? 'bad' : 'warning' }
}

function bundleRows({ gitops }: StatusReport): Row[] {
  const digest = textAt(gitops, 'node', 'digest')
  if (gitops === null || digest === '') return []
  const age = ageText(numberAt(gitops, 'node', 'ageSeconds'))
  const seq = numberAt(gitops, 'node', 'seq') ?? 0
  const serial = numberAt(gitops, 'node', 'serial') ?? 0
  const text = `seq ${seq}  serial ${serial}  ${short(digest)}  issued ${age} ago`
  const isExpired = isTrueAt(gitops, 'node', 'expired')
  const rows: Row[] = [[strong('bundle'), { text, tone: isExpired ? 'bad' : undefined }]]
  if (isExpired) rows.push(['', { text: 'its channel record is past its expiry', tone: 'bad' }])
  const refused = textAt(gitops, 'node', 'refused', 'message')
  if (refused !== '') rows.push(['', { text: `the newest was refused: ${refused}`, tone: 'bad' }])
  return rows
}

function nodeLines({ nodes }: StatusReport, paint: Paint): string[] {
  const rows = listAt(nodes)
  const heads = ['nodes', 'health', 'seq', 'bundle', 'age', 'busy', 'queries', 'members', 'version']
  const digests = new Set(rows.map((node) => textAt(node, 'digest')))
  const shown = rows.map((node) => nodeRow(node, digests.size > 1))
  return [...tableLines(heads, shown, paint), ...rows.flatMap((node) => refusalLines(node, paint))]
}

/** What the node refuses now; what it refused before is over. */
function refusalLines(node: unknown, paint: Paint): string[] {
  if (!textsAt(node, 'drift').includes('refusing')) return []
  const last = listAt(node, 'refusals').at(-1)
  const said = `${textAt(last, 'code')}: ${textAt(last, 'reason')}`
  return [paint('bad', `${textAt(node, 'name')} refuses: ${said}`)]
}

/** A table below an empty line; nothing without rows. */
function tableLines(heads: readonly string[], rows: readonly Row[], paint: Paint): string[] {
  return rows.length === 0 ? [] : ['', ...columns([heads.map(strong), ...rows], paint)]
}

/** @param differs true: nodes have different bundles */
function nodeRow(node: unknown, differs: boolean): Row {
  const isMissing = isTrueAt(node, 'isMissing')
  const status = textAt(node, 'health', 'status')
  const reasons = textsAt(node, 'health', 'reasons')
  const drift = textsAt(node, 'drift').filter((kind) => kind !== 'missing')
  const strange = isFalseAt(node, 'isKnown') ? ['not listed'] : []
  const own = isMissing ? [missingText(node)] : [status, ...reasons]
  const health = [...own, ...drift, ...strange].join(' ')
  const isOdd = status === 'ok' && drift.length + strange.length > 0
  const tone = isMissing ? 'bad' : isOdd ? 'warning' : (toneOfHealth[status] ?? 'warning')
  const busy = numberAt(node, 'load', 'busyRatio')
  const count = (kind: string) => numberAt(node, 'health', 'members', kind) ?? 0
  const down = count('unhealthy')
  const unprobed = count('unprobed')
  const unresolved = count('unresolved')
  const rest =
    (unprobed === 0 ? '' : `, ${unprobed} not probed`) +
    (unresolved === 0 ? '' : `, ${unresolved} without an address`)
  const members = `${count('healthy') - unprobed} up, ${down} down${rest}`
  return [
    textAt(node, 'name') + (isTrueAt(node, 'isSelf') ? ' (asked)' : ''),
    { text: health, tone },
    String(numberAt(node, 'seq') ?? '-'),
    { text: short(textAt(node, 'digest')), tone: differs ? 'warning' : undefined },
    ageText(numberAt(node, 'ageSeconds')),
    busy === null ? '-' : `${Math.round(busy * 100)} %`,
    String(numberAt(node, 'load', 'queries') ?? '-'),
    { text: members, tone: down > 0 ? 'warning' : undefined },
    textAt(node, 'version'),
  ]
}

/** With when it was last heard. */
function missingText(node: unknown): string {
  const seenAt = numberAt(node, 'seenAt')
  if (seenAt === null) return 'missing'
  return `missing, last heard ${new Date(seenAt).toISOString().slice(0, 19)}Z`
}

/** States of sources of discovery, and of zones that come from elsewhere. */
const toneOfState: Readonly<Record<string, Tone>> = {
  ...{ failing: 'bad', expired: 'bad', refused: 'bad', held: 'warning' },
}

function stateCell(one: unknown): Cell {
  const text = textAt(one, 'state')
  return { text, tone: toneOfState[text] }
}

/** Sources of discovery: how each stands, and how old the members are that are worst off. */
function sourceLines({ sources }: StatusReport, nowMs: number, paint: Paint): string[] {
  const heads = ['sources', 'state', 'age', 'members', 'held', 'why']
  const rows = listAt(sources).map((source): Row => [
    textAt(source, 'name'),
    stateCell(source),
    agoText(numberAt(source, 'foundAt'), nowMs),
    String(numberAt(source, 'members') ?? 0),
    String(numberAt(source, 'held') ?? 0),
    textAt(source, 'error') || textAt(source, 'note'),
  ])
  return tableLines(heads, rows, paint)
}

/** Zones that come from other servers, and when one of these was heard last. */
function zoneLines({ zoneTransfers }: StatusReport, nowMs: number, paint: Paint): string[] {
  const heads = ['zones from elsewhere', 'state', 'serial', 'heard', 'why']
  const rows = listAt(zoneTransfers).map((zone): Row => [
    textAt(zone, 'zone'),
    stateCell(zone),
    String(numberAt(zone, 'serial') ?? '-'),
    agoText(numberAt(zone, 'contactAt'), nowMs),
    textAt(zone, 'error'),
  ])
  return tableLines(heads, rows, paint)
}

/** The time since an instant that may lie ahead: clocks differ. */
const agoText = (atMs: number | null, nowMs: number): string =>
  ageText(atMs === null ? null : Math.max(0, (nowMs - atMs) / 1_000))

function short(hash: string | undefined): string {
  return hash === undefined || hash === '' ? 'none' : hash.slice(0, hashChars)
}

/** Formats `41 s`, `12 min`, `5 h` or `3 d`. */
export function ageText(seconds: number | null): string {
  if (seconds === null) return '-'
  if (seconds < 120) return `${Math.floor(seconds)} s`
  if (seconds < 7_200) return `${Math.floor(seconds / 60)} min`
  if (seconds < 172_800) return `${Math.floor(seconds / 3_600)} h`
  return `${Math.floor(seconds / 86_400)} d`
}
