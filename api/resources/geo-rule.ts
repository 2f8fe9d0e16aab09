// Defines the JSON of a geo rule, as the API shows and accepts it.
import { Type } from '#lib/schema/type.ts'
import type { Static } from '#lib/schema/type.ts'
import { GeoRule as GeoRuleInFile } from '#schemas/objects/geo-rule.ts'
import type { GeoRule as GeoRuleFields } from '#schemas/objects/geo-rule.ts'
import { withoutHostBits } from '#routing/tables/cidr.ts'
import { UnixSeconds, closed } from '#http/shapes.ts'
import { defaulted, plain } from './fields.ts'
import { canonical } from './member.ts'

const { properties } = GeoRuleInFile

export const GeoRule = Type.Object(
  {
    id: Type.String(),
    poolId: Type.String(),
    cidr: Type.String(),
    endpoint: Type.String(),
    priority: Type.Integer(),
    createdAt: UnixSeconds,
    updatedAt: UnixSeconds,
  },
  { title: 'GeoRule' },
)

const cidr = Type.String({
  ...plain(properties.cidr),
  description: 'IPv4 or IPv6 network of clients, such as 192.0.2.0/24; bits beyond the prefix go.',
})
const fields = { cidr, endpoint: plain(properties.endpoint) }
export const NewGeoRule = closed({ ...fields, priority: defaulted(properties.priority) })
export type NewGeoRule = Static<typeof NewGeoRule>
export const GeoRuleChange = closed({ ...fields, priority: plain(properties.priority) })

type GeoRulePart = GeoRuleFields & { readonly uid: string }

/** Clears the host bits: a network written by the address of one of its hosts is that network. */
export function normalRule<Sent extends { readonly cidr: string; readonly endpoint: string }>(
  sent: Sent,
): Sent {
  return { ...sent, cidr: withoutHostBits(sent.cidr), endpoint: canonical(sent.endpoint) }
}

/** Times are 0 for a rule that was never changed over the API: its history is in Git. */
export function showGeoRule(poolId: string, rule: GeoRulePart) {
  const { uid, cidr, endpoint, priority, createdAt = 0, updatedAt = createdAt } = rule
  return { id: uid, poolId, cidr, endpoint: canonical(endpoint), priority, createdAt, updatedAt }
}
