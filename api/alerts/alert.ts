// Defines the JSON of alerts and silences in the API.
import { Type } from '#lib/schema/type.ts'
import { conditionNames } from '#alerts/conditions.ts'
import { textPattern } from '#lib/text/patterns.ts'
import { operatorId, severities } from '#state/ports/alerts.ts'
import type { StoredAlert, StoredSilence } from '#state/ports/alerts.ts'
import { closed, nullable, unixSeconds, UnixSeconds } from '#http/shapes.ts'

const tenantId = nullable(Type.String({ description: 'null: the operator’s' }))

export const Alert = Type.Object(
  {
    id: Type.String(),
    tenantId,
    state: Type.Enum(['open', 'resolved']),
    condition: Type.String(),
    severity: Type.Enum([...severities]),
    subject: Type.String({ description: 'What it is about, such as the id of a pool' }),
    node: nullable(Type.String({ description: 'null: of no single node' })),
    title: Type.String(),
    detail: Type.String(),
    openedAt: UnixSeconds,
    resolvedAt: nullable(Type.Integer()),
  },
  { title: 'Alert' },
)

const tenantOf = (id: string): string | null => (id === operatorId ? null : id)

export function showAlert(alert: StoredAlert) {
  const { id, condition, severity, subject, title, detail, openedAtMs, resolvedAtMs } = alert
  return {
    ...{ id, condition, severity, subject, title, detail },
    tenantId: tenantOf(alert.tenantId),
    state: resolvedAtMs === null ? 'open' : 'resolved',
    node: alert.node === '' ? null : alert.node,
    openedAt: unixSeconds(openedAtMs),
    resolvedAt: resolvedAtMs === null ? null : unixSeconds(resolvedAtMs),
  }
}

const condition = Type.Enum([...conditionNames], { description: 'Left out: every condition' })
const dayS = 86_400
/** Text without control characters, which neither the database nor a log line could hold. */
const oneLine = {
  pattern: textPattern,
  'x-expected': 'one line of at most 200 characters',
} as const

export const NewSilence = closed({
  seconds: Type.Integer({ minimum: 1, maximum: 30 * dayS, description: 'How long it holds' }),
  condition: Type.Optional(condition),
  subject: Type.Optional(
    Type.String({
      minLength: 1,
      maxLength: 200,
      ...oneLine,
      description:
        'Of one alert, as `alerts/events` has it; of a pool its name, too. Left out: every subject',
    }),
  ),
  reason: Type.Optional(
    Type.String({ maxLength: 200, ...oneLine, default: '', description: 'For people' }),
  ),
  scope: Type.Optional(
    Type.Enum(['tenant', 'platform'], {
      default: 'tenant',
      description: '`platform`: for the channels of the operator; for system administrators alone',
    }),
  ),
})

export const Silence = Type.Object(
  {
    id: Type.String(),
    tenantId,
    condition: nullable(Type.String({ description: 'null: every condition' })),
    subject: nullable(Type.String({ description: 'null: every subject' })),
    reason: Type.String(),
    createdAt: UnixSeconds,
    until: UnixSeconds,
  },
  { title: 'Silence' },
)

export function showSilence({ id, reason, createdAtMs, untilMs, ...silence }: StoredSilence) {
  return {
    id,
    tenantId: tenantOf(silence.tenantId),
    condition: silence.condition === '' ? null : silence.condition,
    subject: silence.subject === '' ? null : silence.subject,
    reason,
    createdAt: unixSeconds(createdAtMs),
    until: unixSeconds(untilMs),
  }
}
