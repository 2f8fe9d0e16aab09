// Defines the JSON of an alert channel: secret settings are accepted, and never shown.
import { randomBytes } from 'node:crypto'
import { Type } from '#lib/schema/type.ts'
import { channelKind, channelKinds } from '#alerts/channel-kinds.ts'
import type { ChannelKind } from '#alerts/channel-kind.ts'
import { conditionNames } from '#alerts/conditions.ts'
import { err, ok } from '#lib/result.ts'
import type { Result } from '#lib/result.ts'
import { namePattern } from '#lib/text/patterns.ts'
import { operatorId, severities } from '#state/ports/alerts.ts'
import type {
  ChannelSettings,
  ChannelValue,
  ChannelWithHealth,
  Severity,
} from '#state/ports/alerts.ts'
import { invalid } from '#http/reply.ts'
import type { Reply } from '#http/reply.ts'
import { closed, nullable, unixSeconds, UnixSeconds } from '#http/shapes.ts'

const name = Type.String({
  minLength: 1,
  maxLength: 100,
  pattern: namePattern,
  'x-expected': 'one line of 1 to 100 characters, not of blanks alone',
  description: 'Of no other channel of the tenant',
})

type Given = Readonly<Record<string, ChannelValue | undefined>>

const settingNames = new Set(channelKinds.flatMap((row) => Object.keys(row.fields)))
const fields = Object.fromEntries([...settingNames].map((name) => [name, settingSchema(name)]))

function settingSchema(name: string) {
  const rows = channelKinds.filter((row) => Object.hasOwn(row.fields, name))
  const users = rows.map(({ kind, fields: { [name]: { isRequired, isSecret } = {} } }) => {
    const notes = [...(isRequired ? ['required'] : []), ...(isSecret ? ['secret'] : [])]
    return `\`${kind}\`${notes.length === 0 ? '' : ` (${notes.join(', ')})`}`
  })
  const { schema } = rows[0]!.fields[name]!
  return Type.Unsafe<ChannelValue>({
    ...schema,
    description: `${schema.description}. For ${users.join(', ')}`,
    ...(rows.every(({ fields }) => fields[name]!.isSecret) ? { writeOnly: true } : {}),
  })
}

/** Without their defaults, which an answer would have for channels of other kinds, too. */
function openFields(): Readonly<Record<string, object>> {
  const open = Object.entries(fields).filter(([, schema]) => !('writeOnly' in schema))
  const plain = open.map(([name, schema]) => {
    const keywords = Object.entries(schema).filter(([keyword]) => keyword !== 'default')
    return [name, Object.fromEntries(keywords)] as const
  })
  return Object.fromEntries(plain)
}

const settings = Type.Unsafe<Given>({
  type: 'object',
  properties: fields,
  additionalProperties: false,
})
const conditions = Type.Array(Type.Enum([...conditionNames]), {
  maxItems: 100,
  uniqueItems: true,
  description: 'Of which it is told; empty: of all',
})
const minSeverity = Type.Enum([...severities], {
  description: 'Of less severe alerts it is not told',
})
const enabled = Type.Boolean({ description: 'false: nothing is sent, and nothing waits' })

const kind = Type.Enum(
  channelKinds.map((row) => row.kind),
  { description: channelKinds.map(({ kind, says }) => `\`${kind}\`: ${says}`).join('. ') },
)
const scope = Type.Enum(['tenant', 'platform'], {
  default: 'tenant',
  description:
    '`platform`: the operator’s, which hears of the installation and of every tenant; for system ' +
    'administrators alone',
})

export const NewAlertChannel = closed({
  name,
  kind,
  settings,
  conditions: Type.Optional(Type.Array(conditions.items, { ...conditions, default: [] })),
  minSeverity: Type.Optional(Type.Unsafe<Severity>({ ...minSeverity, default: 'info' })),
  enabled: Type.Optional(Type.Unsafe<boolean>({ ...enabled, default: true })),
  scope: Type.Optional(scope),
})

export const ChangedAlertChannel = closed({
  name: Type.Optional(name),
  settings: Type.Optional(settings),
  conditions: Type.Optional(conditions),
  minSeverity: Type.Optional(minSeverity),
  enabled: Type.Optional(enabled),
})

const shown = {
  id: Type.String(),
  tenantId: nullable(Type.String({ description: 'null: the operator’s' })),
  scope: Type.Enum(['tenant', 'platform']),
  name: Type.String(),
  kind,
  target: Type.String({ description: 'Where messages go, without what may be secret' }),
  settings: Type.Unsafe<ChannelSettings>({
    type: 'object',
    properties: openFields(),
    description: 'Without the secret ones',
  }),
  secrets: Type.Array(Type.String(), { description: 'Names of the secret settings that it has' }),
  conditions: Type.Array(Type.String()),
  minSeverity: Type.Enum([...severities]),
  enabled: Type.Boolean(),
  createdAt: UnixSeconds,
  updatedAt: UnixSeconds,
  lastSentAt: nullable(Type.Integer({ description: 'null: never' })),
  failures: Type.Integer({ description: 'In a row; 0: the last message was taken' }),
  lastError: Type.String({
    description: 'Why the last message was not taken, or not by all receivers; empty: it was',
  }),
  queued: Type.Integer({ description: 'What waits to be sent' }),
  dropped: Type.Integer({ description: 'What was never sent: too much, too old, or refused' }),
}

export const AlertChannel = Type.Object(shown, { title: 'AlertChannel' })

export const NewAlertChannelAnswer = Type.Object(
  {
    ...shown,
    secret: Type.Optional(
      Type.String({ description: 'One that was made for it; in this answer only' }),
    ),
  },
  { title: 'NewAlertChannel' },
)

export function showChannel(channel: ChannelWithHealth) {
  const { id, name, kind, target, settings, secrets, conditions, minSeverity, enabled } = channel
  const { tenantId, health, createdAtMs, updatedAtMs } = channel
  const isPlatform = tenantId === operatorId
  return {
    ...{ id, name, kind, target, settings, secrets, conditions, minSeverity, enabled },
    tenantId: isPlatform ? null : tenantId,
    scope: isPlatform ? 'platform' : 'tenant',
    createdAt: unixSeconds(createdAtMs),
    updatedAt: unixSeconds(updatedAtMs),
    lastSentAt: health.lastSentAtMs === null ? null : unixSeconds(health.lastSentAtMs),
    failures: health.failures,
    lastError: health.fault,
    queued: health.queued,
    dropped: health.dropped,
  }
}

export interface CheckedSettings {
  readonly open: ChannelSettings
  readonly secret: ChannelSettings
  readonly target: string
  /** A secret that was made here; undefined: it was sent by the client, or the kind has none. */
  readonly made?: string
}

/**
 * Checks the settings of a channel. What is sent replaces what was; a secret that is left out
 * stays.
 *
 * @param before with its secrets; undefined: the channel is new
 */
export function checkSettings(
  kindName: string,
  given: Given,
  before: ChannelSettings | undefined,
): Result<CheckedSettings, Reply> {
  const row = channelKind(kindName)
  if (row === undefined) return err(invalid('kind', 'is none of this server'))
  const foreign = Object.keys(given).find(
    (field) => given[field] !== undefined && !Object.hasOwn(row.fields, field),
  )
  if (foreign !== undefined)
    return fault(foreign, `a channel of kind ${row.kind} has no such setting`)
  const { settings: all, made } = withKept(row, given, before)
  const missing = namesOf(row, 'isRequired').find((field) => all[field] === undefined)
  if (missing !== undefined) return fault(missing, `is required for a channel of kind ${row.kind}`)
  const wrong = row.fault(all)
  if (wrong !== undefined) return fault(wrong.field, wrong.reason)
  const place = namesOf(row, 'isPlace').find((field) => all[field] !== before?.[field])
  const secrets = namesOf(row, 'isSecret')
  // A kept secret would be sent to the new address of a caller who need not know it.
  const kept = secrets.find(
    (field) =>
      given[field] === undefined && all[field] !== undefined && before?.[field] !== undefined,
  )
  if (place !== undefined && kept !== undefined) {
    return fault(kept, `write it again, since it would be sent to another ${place}`)
  }
  const entries = Object.entries(all)
  return ok({
    open: Object.fromEntries(entries.filter(([field]) => !secrets.includes(field))),
    secret: Object.fromEntries(entries.filter(([field]) => secrets.includes(field))),
    target: row.target(all),
    ...(made === undefined ? {} : { made }),
  })
}

const fault = (field: string, reason: string) => err(invalid(`settings.${field}`, reason))

const namesOf = ({ fields }: ChannelKind, what: 'isRequired' | 'isSecret' | 'isPlace' | 'isMade') =>
  Object.keys(fields).filter((name) => fields[name]![what] === true)

function withKept(
  row: ChannelKind,
  given: Given,
  before: ChannelSettings | undefined,
): { readonly settings: ChannelSettings; readonly made?: string } {
  const all: Record<string, ChannelValue> = {}
  for (const [field, { isSecret, goesWith = field }] of Object.entries(row.fields)) {
    const isKept = isSecret === true && (goesWith === field || given[goesWith] !== undefined)
    const value = given[field] ?? (isKept ? before?.[field] : undefined)
    if (value !== undefined) all[field] = value
  }
  const [makes] = namesOf(row, 'isMade')
  if (makes === undefined || all[makes] !== undefined) return { settings: all }
  const made = randomBytes(32).toString('hex')
  return { settings: { ...all, [makes]: made }, made }
}
