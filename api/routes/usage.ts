// /api/v1/usage and /api/v1/tenants/{id}/usage: hourly usage of a tenant.
import { Type } from '#lib/schema/type.ts'
import type { Static } from '#lib/schema/type.ts'
import { closed } from '#http/shapes.ts'
import type { Ports } from '#ports/ports.ts'
import { invalid, missing, refused, success } from '#http/reply.ts'
import type { Reply } from '#http/reply.ts'
import { routesOf } from '#api/route/route.ts'
import { storeFailed } from '#http/store-reply.ts'

const route = routesOf({ tag: 'Usage' })

const Hour = Type.String({
  pattern: '^\\d{4}-(0[1-9]|1[0-2])-(0[1-9]|[12]\\d|3[01])T([01]\\d|2[0-3])$',
  'x-expected': 'an hour in UTC such as 2026-01-31T23',
})

const Range = closed({ from: Type.Optional(Hour), to: Type.Optional(Hour) })
type Range = Static<typeof Range>

const UsageRecord = Type.Object(
  {
    tenantId: Type.String(),
    period: Type.String(),
    dnsQueries: Type.Integer(),
    apiCalls: Type.Integer(),
  },
  { title: 'UsageRecord' },
)

const responses = {
  200: { description: 'Hours in which something was counted', schema: Type.Array(UsageRecord) },
}

const own = route('GET /api/v1/usage', {
  needs: 'usage:read_own',
  withoutConfig: true,
  summary: "The caller's tenant by hours, both ends included; without a range the day so far",
  query: Range,
  responses,
  ports: ['usage', 'clock'],
  handle: ({ caller, ports, query }) => answer(ports, caller.tenant, query),
})

const ofTenant = route('GET /api/v1/tenants/{id}/usage', {
  needs: 'system',
  summary: 'One tenant by hours, both ends included; without a range the day so far',
  details: 'Also one that was deleted, for the hours in which it has used something.',
  query: Range,
  responses,
  ports: ['tenants', 'usage', 'clock'],
  handle: async ({ ports, params: { id }, query }) => {
    const reply = await answer(ports, id, query)
    // What a tenant has used outlives it.
    const isEmpty = Array.isArray(reply.body) && reply.body.length === 0
    return isEmpty && ports.tenants.find(id) === undefined ? missing('tenant') : reply
  },
})

/** The current UTC day by default. */
async function answer(
  { usage, clock }: Ports<'usage' | 'clock'>,
  tenant: string,
  range: Range,
): Promise<Reply> {
  const today = new Date(clock.nowMs()).toISOString().slice(0, 10)
  const { from = `${today}T00`, to = `${today}T23` } = range
  if (from > to) return invalid('from', 'must not be after `to`')
  const found = await usage.range(tenant, from, to)
  if (found.ok) return success(found.value)
  if (found.error.code === 'range-too-wide') return refused(400, `from: ${found.error.message}`)
  return storeFailed(found.error)
}

export const usageRoutes = Object.freeze([own, ofTenant])
