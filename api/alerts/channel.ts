// An alert channel in the JSON of the API; its secret settings are taken, and never shown.
import { randomBytes } from 'node:crypto'
import { Type } from 'typebox'
import { channelKind, channelKinds } from '#alerts/channel-kinds.ts'
import { channelFields } from '#alerts/channel-kind.ts'
import type { ChannelField, ChannelKind } from '#alerts/channel-kind.ts'
import { conditionNames } from '#alerts/conditions.ts'
import { mailSecurities } from '#alerts/kinds/email.ts'
import { eventsUrl } from '#alerts/kinds/pagerduty.ts'
import { err, ok } from '#lib/result.ts'
import type { Result } from '#lib/result.ts'
import { textPattern } from '#lib/text/patterns.ts'
import { operatorId, severities } from '#state/ports/alerts.ts'
import type { ChannelSettings, ChannelValue, ChannelWithHealth } from '#state/ports/alerts.ts'
import { invalid } from '#http/reply.ts'
import type { Reply } from '#http/reply.ts'
import { UnixSeconds, body, nullable } from '#http/shapes.ts'

const name = Type.String({
  minLength: 1,
  maxLength: 100,
  pattern: textPattern,
  'x-expected': 'one line of 1 to 100 characters',
  description: 'Of no other channel of the tenant',
})
const printable = '^[!-~]+$'
const address = '^[^\\s<>@,;:"]+@[^\\s<>@,;:"]+$'

const fields = {
  url: Type.Optional(
    Type.String({
      minLength: 1,
      maxLength: 2_000,
      pattern: printable,
      'x-expected': 'an https:// address',
      description:
        'Where messages are posted. http:// and internal addresses: `alerts.allowedHosts` alone. ' +
        `Secret, but for pagerduty, where it is \`${eventsUrl}\` if left out`,
    }),
  ),
  secret: Type.Optional(
    Type.String({
      minLength: 16,
      maxLength: 256,
      pattern: printable,
      'x-expected': '16 to 256 printable ASCII characters',
      description: 'Signs the messages of a webhook; left out, one is made and shown once. Secret',
    }),
  ),
  routingKey: Type.Optional(
    Type.String({
      minLength: 1,
      maxLength: 256,
      pattern: printable,
      'x-expected': 'the key of an integration',
      description: 'Of the integration that takes events. Secret',
    }),
  ),
  host: Type.Optional(
    Type.String({
      minLength: 1,
      maxLength: 253,
      pattern: '^[A-Za-z0-9]([A-Za-z0-9.:_-]*[A-Za-z0-9])?$',
      'x-expected': 'a host name or an address',
      description: 'The SMTP server',
    }),
  ),
  port: Type.Optional(
    Type.Integer({
      minimum: 1,
      maximum: 65_535,
      description: 'Its port: 587, for `tls` 465, for `none` 25',
    }),
  ),
  security: Type.Optional(
    Type.Enum([...mailSecurities], {
      default: mailSecurities[0],
      description:
        '`starttls`: without STARTTLS nothing is sent. `tls`: from the first octet. `none`: to ' +
        'servers of `alerts.allowedHosts`, without a login',
    }),
  ),
  username: Type.Optional(
    Type.String({ minLength: 1, maxLength: 256, description: 'Of the login there' }),
  ),
  password: Type.Optional(
    Type.String({ minLength: 1, maxLength: 256, description: 'Of the login there. Secret' }),
  ),
  from: Type.Optional(
    Type.String({
      minLength: 3,
      maxLength: 254,
      pattern: address,
      'x-expected': 'an e-mail address',
      description: 'Sender of the mail',
    }),
  ),
  to: Type.Optional(
    Type.Array(
      Type.String({
        minLength: 3,
        maxLength: 254,
        pattern: address,
        'x-expected': 'an e-mail address',
      }),
      { minItems: 1, maxItems: 20, description: 'Receivers of the mail' },
    ),
  ),
} satisfies Record<ChannelField, unknown>

const settings = body(fields)
const conditions = Type.Array(Type.Enum([...conditionNames]), {
  maxItems: 100,
  uniqueItems: true,
  description: 'Of which it is told; empty: of all',
})
const minSeverity = Type.Enum([...severities], {
  description: 'Of less severe alerts it is not told',
})
const enabled = Type.Boolean({ description: 'false: nothing is sent, and nothing waits' })

const kindsList = channelKinds
  .map(({ kind, says, required, optional }) => {
    const more = optional.length === 0 ? '' : `, and may have ${optional.join(', ')}`
    return `\`${kind}\`: ${says}; it has ${required.join(', ')}${more}`
  })
  .join('. ')

const kind = Type.Enum(channelKinds.map((row) => row.kind))
const scope = Type.Enum(['tenant', 'platform'], {
  default: 'tenant',
  description:
    '`platform`: the operator’s, which hears of the installation and of every tenant; for system ' +
    'administrators alone',
})

export const NewAlertChannel = body({
  name,
  kind: Type.Enum(
    channelKinds.map((row) => row.kind),
    { description: kindsList },
  ),
  settings,
  conditions: Type.Optional(Type.Array(conditions.items, { ...conditions, default: [] })),
  minSeverity: Type.Optional(
    Type.Enum([...severities], { ...describe(minSeverity), default: 'info' }),
  ),
  enabled: Type.Optional(Type.Boolean({ ...describe(enabled), default: true })),
  scope: Type.Optional(scope),
})

export const ChangedAlertChannel = body({
  name: Type.Optional(name),
  settings: Type.Optional(settings),
  conditions: Type.Optional(conditions),
  minSeverity: Type.Optional(minSeverity),
  enabled: Type.Optional(enabled),
})

function describe(schema: object): { readonly description: string } {
  const { description = '' } = schema as { readonly description?: string }
  return { description }
}

const shown = {
  id: Type.String(),
  tenantId: nullable(Type.String({ description: 'null: the operator’s' })),
  scope: Type.Enum(['tenant', 'platform']),
  name: Type.String(),
  kind,
  target: Type.String({ description: 'Where messages go, without what may be secret' }),
  settings: Type.Object(fields, { description: 'Without the secret ones' }),
  secrets: Type.Array(Type.String(), { description: 'Names of the secret settings that it has' }),
  conditions: Type.Array(Type.String()),
  minSeverity: Type.Enum([...severities]),
  enabled: Type.Boolean(),
  createdAt: UnixSeconds,
  updatedAt: UnixSeconds,
  lastSentAt: nullable(Type.Integer({ description: 'null: never' })),
  failures: Type.Integer({ description: 'In a row; 0: the last message was taken' }),
  lastError: Type.String({ description: 'Why the last message was not taken; empty: it was' }),
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
  const { id, tenantId, health, createdAtMs, updatedAtMs } = channel
  const isPlatform = tenantId === operatorId
  const seconds = (ms: number): number => Math.floor(ms / 1_000)
  return {
    id,
    tenantId: isPlatform ? null : tenantId,
    scope: isPlatform ? 'platform' : 'tenant',
    name: channel.name,
    kind: channel.kind,
    target: channel.target,
    settings: channel.settings,
    secrets: channel.secrets,
    conditions: channel.conditions,
    minSeverity: channel.minSeverity,
    enabled: channel.enabled,
    createdAt: seconds(createdAtMs),
    updatedAt: seconds(updatedAtMs),
    lastSentAt: health.lastSentAtMs === null ? null : seconds(health.lastSentAtMs),
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
  /** Made here; undefined: it was given, or the kind has none. */
  readonly made?: string
}

type Given = { readonly [Field in ChannelField]?: ChannelValue | undefined }

/**
 * Checks the settings of a channel. Given ones replace those before; a secret that is left out
 * stays as it was.
 *
 * @param before with its secrets; undefined: it is new
 */
export function checkSettings(
  kindName: string,
  given: Given,
  before: ChannelSettings | undefined,
): Result<CheckedSettings, Reply> {
  const row = channelKind(kindName)
  if (row === undefined) return err(invalid('kind', 'is none of this server'))
  const known: readonly ChannelField[] = [...row.required, ...row.optional]
  const foreign = channelFields.find(
    (field) => given[field] !== undefined && !known.includes(field),
  )
  if (foreign !== undefined)
    return fault(foreign, `a channel of kind ${row.kind} has no such setting`)
  const { settings: all, made } = withKept(row, given, before)
  const missing = row.required.find((field) => all[field] === undefined)
  if (missing !== undefined) return fault(missing, `is required for a channel of kind ${row.kind}`)
  const wrong = row.fault(all)
  if (wrong !== undefined) return fault(wrong.field, wrong.reason)
  const leaked = before === undefined ? undefined : leakedBy(row, given, before, all)
  if (leaked !== undefined) {
    return fault(leaked.secret, `write it again, since it would be sent to another ${leaked.place}`)
  }
  const entries = Object.entries(all)
  const isSecret = ([field]: [string, ChannelValue]): boolean =>
    (row.secrets as readonly string[]).includes(field)
  return ok({
    open: Object.fromEntries(entries.filter((entry) => !isSecret(entry))),
    secret: Object.fromEntries(entries.filter(isSecret)),
    target: row.target(all),
    ...(made === undefined ? {} : { made }),
  })
}

const fault = (field: ChannelField, reason: string) => err(invalid(`settings.${field}`, reason))

function withKept(
  row: ChannelKind,
  given: Given,
  before: ChannelSettings | undefined,
): { readonly settings: ChannelSettings; readonly made?: string } {
  const all: Record<string, ChannelValue> = {}
  for (const field of [...row.required, ...row.optional]) {
    const value = given[field] ?? (row.secrets.includes(field) ? before?.[field] : undefined)
    if (value !== undefined) all[field] = value
  }
  // A login that is taken away takes its password along.
  if (all['username'] === undefined && given.password === undefined) delete all['password']
  if (row.makes === undefined || all[row.makes] !== undefined) return { settings: all }
  const made = randomBytes(32).toString('hex')
  return { settings: { ...all, [row.makes]: made }, made }
}

/** Finds a secret that a new address would send to a caller who does not know it. */
function leakedBy(
  row: ChannelKind,
  given: Given,
  before: ChannelSettings,
  after: ChannelSettings,
): { readonly secret: ChannelField; readonly place: ChannelField } | undefined {
  const place = row.sendsSecretsTo.find((field) => given[field] !== before[field])
  const secret = row.secrets.find(
    (field) => after[field] !== undefined && given[field] === undefined,
  )
  return place === undefined || secret === undefined ? undefined : { secret, place }
}
