// /api/v1/members/{id}/health-signal(s): what outside monitors say of a member (document B).
import { Type } from 'typebox'
import { parseHealthSignal, signalFormats } from '#schemas/health-signal.ts'
import type { HealthSignal } from '#state/ports/health-signals.ts'
import { findPart } from '../config-reads.ts'
import { missing, refused, success } from '../reply.ts'
import { route } from '../route.ts'
import type { Route } from '../route.ts'
import { Id, UnixSeconds, nullable } from '../shapes.ts'

const tag = 'Health signals'

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

const post = route({
  method: 'POST',
  path: '/api/v1/members/{id}/health-signal',
  needs: 'member:write',
  tag,
  summary: 'Say whether a member is healthy, natively or in the words of a monitor',
  params: Id,
  query: Type.Object(
    { format: Type.Optional(Type.Enum([...signalFormats])) },
    { additionalProperties: false },
  ),
  // Monitors send fields that nobody here has heard of.
  body: Type.Object({}, { additionalProperties: true }),
  responses: { 200: { description: 'The verdict as it was taken', schema: Signal } },
  refusals: [404, 409, 503],
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
    const signal = { memberUid, source, healthy, score, postedAtMs, expiresAtMs }
    const outcome = await ports.healthSignals.post(signal).catch(() => 'away' as const)
    if (outcome === 'accepted') return success(shown(signal))
    if (outcome === 'replaced') return refused(409, 'a newer word of this source is there already')
    if (outcome === 'full') return refused(503, 'there is no room for one more source')
    return refused(503, 'the store of health signals is away; send it again')
  },
})

const list = route({
  method: 'GET',
  path: '/api/v1/members/{id}/health-signals',
  needs: 'member:read',
  tag,
  summary: 'The unexpired signals of a member, by source',
  params: Id,
  responses: { 200: { description: 'Signals', schema: Type.Array(Signal) } },
  refusals: [404, 503],
  handle: async (context) => {
    const { ports, params } = context
    const found = findPart(context, 'Member', params.id)
    if (found === undefined) return missing('member')
    const kept = await ports.healthSignals.load().catch(() => undefined)
    if (kept === undefined) return refused(503, 'the store of health signals is away; try again')
    const nowMs = ports.clock.nowMs()
    const live = kept.filter(
      ({ memberUid, expiresAtMs }) => memberUid === found.part.uid && expiresAtMs > nowMs,
    )
    return success(live.toSorted((a, b) => (a.source < b.source ? -1 : 1)).map(shown))
  },
})

function shown({ source, healthy, score, postedAtMs, expiresAtMs }: HealthSignal) {
  return {
    source,
    healthy,
    score,
    postedAt: Math.floor(postedAtMs / 1000),
    expiresAt: Math.floor(expiresAtMs / 1000),
  }
}

export const healthSignalRoutes: readonly Route[] = Object.freeze([post, list])
