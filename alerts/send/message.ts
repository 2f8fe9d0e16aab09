// Defines a message to one channel, and its text for people.
import type { AlertEvent, Severity, StoredAlert } from '#state/ports/alerts.ts'
import { severities } from '#state/ports/alerts.ts'

interface AlertStep {
  readonly event: AlertEvent
  readonly alert: StoredAlert
}

export interface AlertMessage {
  /** Unique; the same when the message is sent again. */
  readonly id: string
  readonly sentAtMs: number
  /** True: a person requested a test, and nothing is wrong. */
  readonly isTest: boolean
  /** At least one. */
  readonly steps: readonly AlertStep[]
}

/** The highest severity of opening alerts; `info` when alerts only end. */
export function severityOf({ steps }: AlertMessage): Severity {
  const open = new Set(
    steps.flatMap(({ event, alert }) => (event === 'opened' ? alert.severity : [])),
  )
  return severities.find((severity) => open.has(severity)) ?? 'info'
}

/** Returns the headline of a message, one line without a line feed. */
export function headline(message: AlertMessage): string {
  const [first] = message.steps
  if (message.steps.length === 1 && first !== undefined)
    return `${wordOf(first)}: ${first.alert.title}`
  const opened = message.steps.filter(({ event }) => event === 'opened').length
  const resolved = message.steps.length - opened
  const parts = [
    ...(opened === 0 ? [] : [`${opened} new`]),
    ...(resolved === 0 ? [] : [`${resolved} resolved`]),
  ]
  return `${message.steps.length} alerts: ${parts.join(', ')}`
}

/** A paragraph for each alert, the most severe first, those that end last. */
export function paragraphs(message: AlertMessage): readonly string[] {
  const rank = ({ event, alert }: AlertStep): number =>
    event === 'resolved' ? severities.length : severities.indexOf(alert.severity)
  return message.steps
    .toSorted((a, b) => rank(a) - rank(b))
    .map((step) => [`${wordOf(step)}: ${step.alert.title}`, ...linesOf(step)].join('\n'))
}

function linesOf({ event, alert }: AlertStep): string[] {
  const { detail, tenantId, node, condition, openedAtMs, resolvedAtMs } = alert
  const place = [
    `condition ${condition}`,
    ...(tenantId === '' ? [] : [`tenant ${tenantId}`]),
    ...(node === '' ? [] : [`node ${node}`]),
    `since ${new Date(openedAtMs).toISOString()}`,
    ...(resolvedAtMs === null ? [] : [`until ${new Date(resolvedAtMs).toISOString()}`]),
  ]
  return [...(event === 'opened' && detail !== '' ? [detail] : []), place.join(', ')]
}

function wordOf({ event, alert }: AlertStep): string {
  return event === 'resolved' ? 'RESOLVED' : alert.severity.toUpperCase()
}
