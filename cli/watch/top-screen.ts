// Prints the changes between two readings of a node's metrics: rates of answers, load, members.
import { columns, plain, strong } from '#cli/terminal/paint.ts'
import type { Cell, Paint, Row } from '#cli/terminal/paint.ts'
import { byLabel, sumOf } from './metrics-text.ts'
import type { MetricSamples } from './metrics-text.ts'

export interface Reading {
  readonly metrics: MetricSamples
  /** From a clock that never goes back. */
  readonly atMs: number
}

const rowsMax = 20
const badRcodes: readonly string[] = ['SERVFAIL', 'REFUSED', 'FORMERR']

export function topScreen(url: string, before: Reading, now: Reading, paint: Paint): string {
  const rate = new Rates(before, now)
  const rows: Row[] = [
    [strong('node'), url],
    [strong('queries/s'), answersDns(now.metrics) ? queriesText(rate) : answersNone],
    [strong('lost/s'), lostCell(rate)],
    [strong('members'), membersCell(now.metrics)],
  ]
  const parts = [
    columns(rows, paint),
    table('rcode', rate.by('gslbd_dns_responses_total', 'rcode'), paint),
    table('type', rate.by('gslbd_dns_responses_by_type_total', 'qtype'), paint),
    table('response rules', rate.by('gslbd_response_rule_hits_total', 'source'), paint),
    poolLines(now.metrics, paint),
    threadLines(rate, now.metrics, paint),
  ]
  return `${parts
    .filter((lines) => lines.length > 0)
    .map((lines) => lines.join('\n'))
    .join('\n\n')}\n`
}

const answersNone = 'none: this node has no DNS port (roles: [control])'

/** Whether there are answering threads, which have a row each. */
function answersDns(metrics: MetricSamples): boolean {
  return (metrics.get('gslbd_thread_busy_ratio') ?? []).length > 0
}

/** Rates between two readings; after a restart, counts since the start. */
class Rates {
  readonly #before: MetricSamples
  readonly #now: MetricSamples
  readonly #seconds: number

  constructor(before: Reading, now: Reading) {
    this.#before = before.metrics
    this.#now = now.metrics
    this.#seconds = Math.max(0.001, (now.atMs - before.atMs) / 1_000)
  }

  sum(name: string): number {
    return this.#rate(sumOf(this.#before, name), sumOf(this.#now, name))
  }

  /** The busiest first; those without a change are left out. */
  by(name: string, key: string): (readonly [string, number])[] {
    const before = byLabel(this.#before, name, key)
    return [...byLabel(this.#now, name, key)]
      .map(([of, count]) => [of, this.#rate(before.get(of) ?? 0, count)] as const)
      .filter(([, value]) => value > 0)
      .toSorted(([, a], [, b]) => b - a)
  }

  #rate(before: number, now: number): number {
    return (now < before ? now : now - before) / this.#seconds
  }
}

function perSecond(value: number): string {
  return value >= 100 || value === 0 ? String(Math.round(value)) : value.toFixed(1)
}

function joined(pairs: readonly (readonly [string, number])[]): string {
  if (pairs.length === 0) return 'none'
  return pairs.map(([name, value]) => `${plain(name)} ${perSecond(value)}`).join(', ')
}

function queriesText(rate: Rates): string {
  const name = 'gslbd_dns_queries_total'
  return `${perSecond(rate.sum(name))}  (${joined(rate.by(name, 'transport'))})`
}

function lostCell(rate: Rates): Cell {
  const counts = [
    ['dropped', rate.sum('gslbd_dns_dropped_total')],
    ['send errors', rate.sum('gslbd_dns_send_errors_total')],
    ['over the limit', rate.sum('gslbd_dns_over_limit_total')],
    ['no candidate', rate.sum('gslbd_dns_no_candidate_total')],
  ] as const
  const some = counts.filter(([, value]) => value > 0)
  return some.length === 0
    ? { text: 'none', tone: 'good' }
    : { text: joined(some), tone: 'warning' }
}

function membersCell(metrics: MetricSamples): Cell {
  const counts = [...byLabel(metrics, 'gslbd_members', 'health')]
  const down = counts.find(([health]) => health === 'unhealthy')?.[1] ?? 0
  const unprobed = sumOf(metrics, 'gslbd_members_unprobed')
  const words = counts.map(([health, count]) => {
    return `${health === 'healthy' ? count - unprobed : count} ${plain(health)}`
  })
  if (unprobed > 0) words.push(`${unprobed} not probed`)
  const text = words.length === 0 ? 'none' : words.join(', ')
  if (down === 0 && unprobed > 0) return { text }
  return { text, tone: down > 0 ? 'warning' : 'good' }
}

function table(
  title: string,
  pairs: readonly (readonly [string, number])[],
  paint: Paint,
): string[] {
  if (pairs.length === 0) return []
  const rows = pairs.slice(0, rowsMax).map(([name, value]): Row => {
    const isBad = badRcodes.includes(name)
    return [{ text: plain(name), tone: isBad ? 'warning' : undefined }, perSecond(value)]
  })
  return columns([[strong(title), strong('per second')], ...rows], paint)
}

/** Pools with members that are down, the worst first. */
function poolLines(metrics: MetricSamples, paint: Paint): string[] {
  const down = (metrics.get('gslbd_pool_members') ?? [])
    .filter(({ labels, value }) => labels['health'] === 'unhealthy' && value > 0)
    .toSorted((a, b) => b.value - a.value)
    .slice(0, rowsMax)
  if (down.length === 0) return []
  const rows = down.map(({ labels, value }): Row => [
    plain(`${labels['tenant'] ?? ''}/${labels['pool'] ?? ''}`),
    { text: String(value), tone: 'bad' },
  ])
  return columns([[strong('pool'), strong('members down')], ...rows], paint)
}

function threadLines(rate: Rates, metrics: MetricSamples, paint: Paint): string[] {
  const busy = byLabel(metrics, 'gslbd_thread_busy_ratio', 'thread')
  if (busy.size === 0) return []
  const queries = new Map(rate.by('gslbd_thread_queries_total', 'thread'))
  const rows = [...busy]
    .slice(0, rowsMax)
    .map(([thread, ratio]): Row => [
      plain(thread),
      { text: `${Math.round(ratio * 100)} %`, tone: ratio > 0.8 ? 'warning' : undefined },
      perSecond(queries.get(thread) ?? 0),
    ])
  return columns([[strong('thread'), strong('busy'), strong('per second')], ...rows], paint)
}
