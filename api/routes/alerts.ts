// /api/v1/alerts: channels, present and recent alerts, silences.
import { Type } from '#lib/schema/type.ts'
import { closed } from '#http/shapes.ts'
import type { Caller } from '#access/caller.ts'
import { withoutSecretKey } from '#access/auth/secret-key.ts'
import { scopeOf } from '#access/grants.ts'
import { Alert, NewSilence, Silence, showAlert, showSilence } from '#api/alerts/alert.ts'
import {
  AlertChannel,
  ChangedAlertChannel,
  NewAlertChannel,
  NewAlertChannelAnswer,
  checkSettings,
  showChannel,
} from '#api/alerts/channel.ts'
import type { CheckedSettings } from '#api/alerts/channel.ts'
import { conditionOf } from '#alerts/conditions.ts'
import { findObject } from '#api/config/reads.ts'
import { NamedPaging } from '#http/paging.ts'
import { created, later, missing, refused, success } from '#http/reply.ts'
import type { Reply } from '#http/reply.ts'
import { routesOf } from '#api/route/route.ts'
import { storeFailed, storedGone, storedList, storedOne, storedPage } from '#http/store-reply.ts'
import { openSettings } from '#alerts/send-by-channel.ts'
import type { AlertMessage } from '#alerts/send/message.ts'
import { conditions } from '#alerts/conditions.ts'
import { err, ok } from '#lib/result.ts'
import type { Result } from '#lib/result.ts'
import { seal } from '#lib/secret-box.ts'
import { uuidV7 } from '#lib/uuid.ts'
import { alertLimits, operatorId } from '#state/ports/alerts.ts'
import type { ChannelChange, StoredAlert, StoredChannel } from '#state/ports/alerts.ts'

const route = routesOf({ tag: 'Alerts', withoutConfig: true })

const noHealth = { lastSentAtMs: null, failures: 0, fault: '', retryAtMs: 0, dropped: 0, queued: 0 }

const list = route('GET /api/v1/alerts', {
  needs: 'alert:read',
  summary: 'Channels by name, without their secrets, and how they do',
  query: NamedPaging,
  responses: { 200: { description: 'Channels', schema: Type.Array(AlertChannel) } },
  ports: ['alerts'],
  handle: async ({ caller, ports, query }) => {
    const channels = await ports.alerts.listChannels(scopeOf(caller))
    return storedPage(channels, query, ({ id }) => id, showChannel)
  },
})

const create = route('POST /api/v1/alerts', {
  needs: 'alert:write',
  summary: 'Create a channel',
  details:
    'It is told of what begins from now on. It needs `GSLB_SECRET_KEY`, under which secrets are ' +
    `stored; without it the answer is 503. Conditions: ${conditions
      .map(({ name, says }) => `\`${name}\`: ${says}`)
      .join('. ')}.`,
  body: NewAlertChannel,
  responses: { 201: { description: 'The channel', schema: NewAlertChannelAnswer } },
  refusals: [409],
  ports: ['auth', 'alerts', 'clock'],
  handle: async ({ caller, ports, body }) => {
    const { secretKey } = ports.auth
    if (secretKey === null) return noSecretKey
    const tenantId = ownerOf(caller, body.scope)
    if (!tenantId.ok) return tenantId.error
    const checked = checkSettings(body.kind, body.settings, undefined)
    if (!checked.ok) return checked.error
    const nowMs = ports.clock.nowMs()
    const { name, kind, conditions: chosen = [], minSeverity = 'info', enabled = true } = body
    const channel: StoredChannel = {
      ...{ id: uuidV7(nowMs), tenantId: tenantId.value, name, kind, conditions: chosen },
      ...{ minSeverity, enabled, createdAtMs: nowMs, updatedAtMs: nowMs },
      ...sealed(checked.value, secretKey),
    }
    const stored = await ports.alerts.createChannel(channel)
    if (stored.ok) {
      const shown = showChannel({ ...channel, health: noHealth })
      const { made } = checked.value
      return created(made === undefined ? shown : { ...shown, secret: made })
    }
    return channelRefused(stored.error)
  },
})

const find = route('GET /api/v1/alerts/{id}', {
  needs: 'alert:read',
  summary: 'A channel, without its secrets, and how it does',
  responses: { 200: { description: 'The channel', schema: AlertChannel } },
  ports: ['alerts'],
  handle: async ({ caller, ports, params }) => {
    return storedOne(
      await ports.alerts.findChannel(scopeOf(caller), params.id),
      'alert channel',
      showChannel,
    )
  },
})

const update = route('PUT /api/v1/alerts/{id}', {
  needs: 'alert:write',
  summary: 'Change a channel; what is left out stays',
  details:
    '`settings` replaces all settings but the secret ones, which stay where they are left out. ' +
    'A secret that would be sent to another place must be written again. What failed is tried ' +
    'again at once; a channel that is turned off forgets what waits.',
  body: ChangedAlertChannel,
  responses: { 200: { description: 'The channel', schema: NewAlertChannelAnswer } },
  refusals: [409],
  ports: ['auth', 'alerts', 'clock'],
  handle: async ({ caller, ports, params, body }) => {
    const scope = scopeOf(caller)
    const before = await ports.alerts.findChannel(scope, params.id)
    if (!before.ok) return storeFailed(before.error)
    if (before.value === null) return noChannel
    const { secretKey } = ports.auth
    const { settings, ...rest } = body
    const given = Object.entries(rest).filter(([, value]) => value !== undefined)
    let made: string | undefined
    let change: ChannelChange = { ...Object.fromEntries(given), updatedAtMs: ports.clock.nowMs() }
    if (settings !== undefined) {
      if (secretKey === null) return noSecretKey
      const known = openSettings(before.value, secretKey)
      const checked = checkSettings(before.value.kind, settings, known)
      if (!checked.ok) return checked.error
      made = checked.value.made
      change = { ...change, ...sealed(checked.value, secretKey) }
    }
    const updated = await ports.alerts.updateChannel(scope, params.id, change)
    if (!updated.ok) return channelRefused(updated.error)
    if (updated.value === null) return noChannel
    const shown = showChannel(updated.value)
    return success(made === undefined ? shown : { ...shown, secret: made })
  },
})

const remove = route('DELETE /api/v1/alerts/{id}', {
  needs: 'alert:write',
  summary: 'Delete a channel and what waits for it',
  responses: { 204: { description: 'It is gone', schema: null } },
  ports: ['alerts'],
  handle: async ({ caller, ports, params }) => {
    return storedGone(await ports.alerts.deleteChannel(scopeOf(caller), params.id), 'alert channel')
  },
})

const Tested = Type.Object(
  {
    delivered: Type.Boolean({ description: 'The receiver has taken the message' }),
    error: Type.String({ description: 'Why it was not delivered, or not to all; empty: it was' }),
    milliseconds: Type.Integer({ description: 'How long it took' }),
  },
  { title: 'AlertTest' },
)

const test = route('POST /api/v1/alerts/{id}/test', {
  needs: 'alert:write',
  summary: 'Send a test message by a channel, now and from this node, and say how it went',
  details:
    'Also where the channel is turned off. Its queue and its failures stay as they are. An ' +
    'incident service gets an event of severity info, which a person ends.',
  responses: { 200: { description: 'How it went', schema: Tested } },
  refusals: [429],
  ports: ['alerts', 'testAlert', 'alertTests', 'clock'],
  handle: async ({ caller, ports, params, request }) => {
    const channel = await ports.alerts.findChannel(scopeOf(caller), params.id)
    if (!channel.ok) return storeFailed(channel.error)
    if (channel.value === null) return noChannel
    const waitMs = ports.alertTests.take(request.address)
    if (waitMs > 0)
      return later(429, 'too many tests of alert channels; wait a moment', waitMs / 1_000)
    const startedMs = ports.clock.monotonicMs()
    const outcome = await ports.testAlert(
      channel.value,
      testMessage(channel.value, ports.clock.nowMs()),
    )
    const milliseconds = Math.round(ports.clock.monotonicMs() - startedMs)
    const error = outcome.fault ?? ''
    return success({ delivered: outcome.ok, error, milliseconds })
  },
})

const Listed = closed({
  state: Type.Optional(Type.Enum(['open', 'resolved'], { description: 'Left out: both' })),
  before: Type.Optional(
    Type.String({
      minLength: 1,
      maxLength: 255,
      description: 'Opened before the one of this id',
    }),
  ),
  limit: Type.Optional(Type.Integer({ minimum: 1, maximum: 1_000, default: 100 })),
})

const listAlerts = route('GET /api/v1/alerts/events', {
  needs: 'alert:read',
  summary: 'What is wrong now, and what was within 30 days, newest first',
  details: 'Also where there is no channel. Those of the operator are for system administrators.',
  query: Listed,
  responses: { 200: { description: 'Alerts', schema: Type.Array(Alert) } },
  ports: ['alerts'],
  handle: async ({ caller, ports, query }) => {
    const { state, before = '', limit = 100 } = query
    const asked = { before, limit, ...(state === undefined ? {} : { state }) }
    return storedList(await ports.alerts.listAlerts(scopeOf(caller), asked), showAlert)
  },
})

const listSilences = route('GET /api/v1/alerts/silences', {
  needs: 'alert:read',
  summary: 'Silences that hold',
  responses: { 200: { description: 'Silences', schema: Type.Array(Silence) } },
  ports: ['alerts', 'clock'],
  handle: async ({ caller, ports }) => {
    return storedList(
      await ports.alerts.listSilences(scopeOf(caller), ports.clock.nowMs()),
      showSilence,
    )
  },
})

const createSilence = route('POST /api/v1/alerts/silences', {
  needs: 'alert:write',
  summary: 'Hold messages back for a time',
  details:
    'It counts for the channels of its tenant. What begins meanwhile is told when it ends, if it ' +
    'is wrong still; the end of what was told before is told at once. Alerts are listed all the ' +
    'same.',
  body: NewSilence,
  responses: { 201: { description: 'The silence', schema: Silence } },
  refusals: [409],
  ports: ['alerts', 'clock', 'config'],
  handle: async (context) => {
    const { caller, ports, body } = context
    const tenantId = ownerOf(caller, body.scope)
    if (!tenantId.ok) return tenantId.error
    const nowMs = ports.clock.nowMs()
    const { condition = '', reason = '', seconds } = body
    const given = body.subject ?? ''
    // Alerts know pools by their ids, and people by their names; what the operator alone is told is
    // about none. The configuration may not have been read yet.
    const isOfPool = conditionOf(condition)?.audience !== 'operator' && ports.config.isReady()
    const pool = isOfPool ? findObject(context, 'Pool', given) : undefined
    const subject = pool?.uid ?? given
    const silence = {
      ...{ id: uuidV7(nowMs), tenantId: tenantId.value, condition, subject, reason },
      ...{ createdAtMs: nowMs, untilMs: nowMs + seconds * 1_000 },
    }
    const stored = await ports.alerts.createSilence(silence)
    if (stored.ok) return created(showSilence(silence))
    if (stored.error.code === 'too-many-silences') return refused(409, stored.error.message)
    return storeFailed(stored.error)
  },
})

const removeSilence = route('DELETE /api/v1/alerts/silences/{id}', {
  needs: 'alert:write',
  summary: 'End a silence',
  responses: { 204: { description: 'It is over', schema: null } },
  ports: ['alerts'],
  handle: async ({ caller, ports, params }) => {
    return storedGone(await ports.alerts.deleteSilence(scopeOf(caller), params.id), 'silence')
  },
})

const noChannel = missing('alert channel')

const noSecretKey = withoutSecretKey('alert channels')

const notForTenants =
  'admin access required: only a system administrator makes channels of scope "platform"; write ' +
  '"tenant", or leave it out'

function ownerOf(caller: Caller, scope: 'tenant' | 'platform' = 'tenant'): Result<string, Reply> {
  if (scope === 'tenant') return ok(caller.tenant)
  return caller.isSystemAdmin ? ok(operatorId) : err(refused(403, notForTenants))
}

function sealed({ open, secret, target }: CheckedSettings, key: Uint8Array) {
  const secrets = Object.keys(secret).toSorted()
  const secretCiphertext = seal(key, JSON.stringify(secret))
  return { settings: open, secrets, secretCiphertext, target }
}

function channelRefused(error: Parameters<typeof storeFailed>[0]): Reply {
  if (error.code === 'name-taken') return refused(409, 'name: another channel has it')
  if (error.code === 'too-many-channels') return refused(409, error.message)
  return storeFailed(error)
}

function testMessage({ tenantId, name }: StoredChannel, nowMs: number): AlertMessage {
  const alert: StoredAlert = {
    ...{ id: uuidV7(nowMs), tenantId, condition: 'test', subject: 'test', severity: 'info' },
    ...{ node: '', title: `test of the channel ${name}`.slice(0, alertLimits.titleLengthMax) },
    ...{ detail: 'Nothing is wrong: somebody tests this channel.' },
    ...{ openedAtMs: nowMs, resolvedAtMs: null },
  }
  return { id: uuidV7(nowMs), sentAtMs: nowMs, isTest: true, steps: [{ event: 'opened', alert }] }
}

export const alertRoutes = Object.freeze([
  list,
  create,
  listAlerts,
  listSilences,
  createSilence,
  removeSilence,
  find,
  update,
  remove,
  test,
])
