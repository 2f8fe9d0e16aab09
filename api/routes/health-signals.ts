// /api/v1/members/{id}/health-signal(s): external health signals of a member.
import { Type } from '#lib/schema/type.ts'
import { parseHealthSignal, signalBodyLimits, signalFormats } from '#schemas/health-signal.ts'
import type { HealthSignal } from '#state/ports/health-signals.ts'
import { findPart } from '#api/config/reads.ts'
import { missing, refused, success } from '#http/reply.ts'
import { sentenceList } from '#http/sentence-list.ts'
import { storeAway } from '#http/store-reply.ts'
import type { Ports } from '#ports/ports.ts'
import { routesOf } from '#api/route/route.ts'
import { closed, nullable, unixSeconds, UnixSeconds } from '#http/shapes.ts'

const route = routesOf({ tag: 'Health signals' })

const Signal = Type.Object(
  {
    source: Type.String(),
    healthy: Type.Boolean(),
    score: nullable(Type.Number()),
    postedAt: UnixSeconds,
    expiresAt: UnixSeconds,
  },
  { title: 'HealthSignal' },
)

const { sourceLengthMax, ttlSecondsDefault, ttlSecondsMax } = signalBodyLimits
const Name = (description: string) =>
  Type.String({ minLength: 1, maxLength: sourceLengthMax, description })
const verdict = {
  healthy: Type.Boolean(),
  score: Type.Optional(nullable(Type.Number({ minimum: 0, maximum: 1 }))),
  ttl: Type.Optional(
    Type.Integer({
      minimum: 1,
      maximum: ttlSecondsMax,
      default: ttlSecondsDefault,
      description: 'For how many seconds it counts',
    }),
  ),
}
const source = Name('Who says so; a newer word of the same source takes its place')

/** Fields for the document; `parseHealthSignal` reads the body, and ignores others. */
const SignalBody = Type.Object(
  {},
  {
    title: 'HealthSignalBody',
    additionalProperties: true,
    anyOf: [
      Type.Object(
        { source, ...verdict },
        {
          title: 'without format',
          examples: [{ source: 'synthetics', healthy: false, score: 0.2, ttl: 120 }],
        },
      ),
      Type.Object(
        {
          source: Type.Optional(Type.Unsafe<string>({ ...source, default: 'webhook' })),
          ...verdict,
        },
        { title: 'format=generic', examples: [{ healthy: true }] },
      ),
      Type.Object(
        {
          AlarmName: Name('The source is vendor_a: and this'),
          NewStateValue: Type.String({ description: 'Healthy where it is OK' }),
        },
        {
          title: 'format=vendor_a',
          examples: [{ AlarmName: 'eu-latency', NewStateValue: 'ALARM' }],
        },
      ),
      Type.Object(
        {
          title: Name('The source is vendor_b: and this'),
          alert_transition: Type.Optional(
            Type.String({ description: 'Healthy where it is recovered or recovery' }),
          ),
          alert_type: Type.Optional(Type.String({ description: 'Healthy where it is success' })),
        },
        {
          title: 'format=vendor_b',
          examples: [{ title: 'eu-http', alert_transition: 'recovered' }],
        },
      ),
    ],
  },
)

const post = route('POST /api/v1/members/{id}/health-signal', {
  needs: 'member:write',
  summary: 'Say whether a member is healthy, natively or in the words of a monitor',
  details:
    'Without `format` the body names its `source` and says `healthy`. `generic` is the same with ' +
    '`webhook` for a source that is not named. `vendor_a` is the alarm of a cloud (`AlarmName`, ' +
    '`NewStateValue`), `vendor_b` the webhook of a monitoring service (`title`, with ' +
    '`alert_transition` or `alert_type`); the default of `ttl` is that of both. Other fields are ' +
    'passed over. A node without `health.enabled` goes by no signal, and says so in ' +
    '`X-Gslb-Warnings`; with Redis the others get it all the same.',
  query: closed({ format: Type.Optional(Type.Enum([...signalFormats])) }),
  // Monitors send fields of their own.
  body: Type.Object({}, { additionalProperties: true }),
  shownBody: SignalBody,
  responses: { 200: { description: 'The verdict as it was taken', schema: Signal } },
  refusals: [409],
  ports: ['config', 'healthSignals', 'goesBySignals', 'clock'],
  handle: async (context) => {
    const { ports, params, query, body } = context
    const found = findPart(context, 'Member', params.id)
    if (found === undefined) return missing('member')
    const parsed = parseHealthSignal(query.format ?? null, body)
    if (!parsed.ok) return refused(400, parsed.error)
    const { source, healthy, score, ttlSeconds } = parsed.value
    const postedAtMs = ports.clock.nowMs()
    const expiresAtMs = postedAtMs + ttlSeconds * 1000
    const memberUid = found.part.uid
    const tenantId = found.owner.tenant
    const signal = { memberUid, tenantId, source, healthy, score, postedAtMs, expiresAtMs }
    const outcome = await ports.healthSignals.post(signal).catch(() => 'away' as const)
    if (outcome === 'accepted') return success(shown(signal), warningOf(ports))
    if (outcome === 'replaced') return refused(409, 'a newer word of this source is there already')
    if (outcome === 'full') return refused(503, 'there is no room for one more source')
    return storeAway('the store of health signals does not answer')
  },
})

const list = route('GET /api/v1/members/{id}/health-signals', {
  needs: 'member:read',
  summary: 'The unexpired signals of a member, by source',
  responses: { 200: { description: 'Signals', schema: Type.Array(Signal) } },
  ports: ['config', 'healthSignals', 'clock'],
  handle: async (context) => {
    const { ports, params } = context
    const found = findPart(context, 'Member', params.id)
    if (found === undefined) return missing('member')
    const kept = await ports.healthSignals.of(found.part.uid).catch(() => undefined)
    if (kept === undefined) return storeAway('the store of health signals does not answer')
    const nowMs = ports.clock.nowMs()
    const live = kept.filter(({ expiresAtMs }) => expiresAtMs > nowMs)
    return success(live.toSorted((a, b) => (a.source < b.source ? -1 : 1)).map(shown))
  },
})

/** A sender would wait in vain for an effect. */
function warningOf({ goesBySignals }: Ports<'goesBySignals'>): Record<string, string> {
  if (goesBySignals) return {}
  const text = 'this node goes by no signal: health.enabled is false in its settings'
  return { 'x-gslb-warnings': sentenceList([{ text, code: 'signals-off' }]) }
}

function shown({ source, healthy, score, postedAtMs, expiresAtMs }: HealthSignal) {
  return {
    source,
    healthy,
    score,
    postedAt: unixSeconds(postedAtMs),
    expiresAt: unixSeconds(expiresAtMs),
  }
}

export const healthSignalRoutes = Object.freeze([post, list])
