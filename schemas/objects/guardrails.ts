// The guardrail settings: how much one change may alter without confirmation.
import { Type } from '#lib/schema/type.ts'
import type { Static } from '#lib/schema/type.ts'
import { plannedGroup } from '#schemas/forms/annotations.ts'
import { tenantOrOthersPattern } from '#lib/text/patterns.ts'

/** Percent. */
export const removedNamesDefault = 30
/** Limits where `gslb.yaml` gives none: on from the start. */
export const changeLimitDefaults = {
  changedNames: 50,
  removedMembers: 50,
  lostRedundancy: 30,
  ttlJump: 10,
  lostAnswers: 0,
  replacedServers: 50,
} as const
/** Names that may always change, so that a small configuration can be rebuilt in one commit. */
export const changedNamesFree = 20
/** TTLs up to this are never a jump: the worst wait is an hour. */
export const ttlJumpFreeSeconds = 3_600
/**
 * TTLs of the zone's own records up to this are never a jump: TLDs have two days for name servers.
 */
export const zoneTtlFreeSeconds = 172_800
/** The largest value of such a setting, in effect no limit. */
const ttlJumpMax = 2_147_483_647

const percent = (description: string) =>
  Type.Optional(Type.Integer({ minimum: 0, maximum: 100, description }))

const overridden =
  'One that does more is held until a commit with the trailer `Gslb-Override: REASON` says that ' +
  'it is meant; requests to the API of ten minutes count as one. Without it: '

const changeLimits = (withoutIt: (name: keyof typeof changeLimitDefaults) => string) => ({
  changedNames: percent(
    'Percent of the names whose service or records one commit may change, and more than ' +
      `${changedNamesFree} of them. ${withoutIt('changedNames')}`,
  ),
  removedMembers: percent(
    'Percent of the members of a pool that one commit may remove or disable, and more than ' +
      `one. ${withoutIt('removedMembers')}`,
  ),
  lostRedundancy: percent(
    'Percent of the pools with two members or more, of those that services ask, that one ' +
      `commit may leave with fewer than two, and more than one. ${withoutIt('lostRedundancy')}`,
  ),
  ttlJump: Type.Optional(
    Type.Integer({
      minimum: 1,
      maximum: ttlJumpMax,
      description:
        'How many times its length the TTL of a name may become in one commit, where it gets ' +
        'longer than an hour, and at more than one name; or that of the SOA or NS records of a ' +
        'zone, where it gets longer than two days: what resolvers keep cannot be called ' +
        `back. ${withoutIt('ttlJump')}`,
    }),
  ),
  lostAnswers: Type.Optional(
    Type.Integer({
      minimum: 0,
      maximum: ttlJumpMax,
      description:
        'Names that one commit may leave, with their service, without any address, or any of ' +
        'IPv4 or of IPv6, that they could answer before with all members up, or deny by a ' +
        `response rule. ${withoutIt('lostAnswers')}`,
    }),
  ),
  movedClients: percent(
    'Percent of the clients of a name that one commit, or one request to the API, may send ' +
      'elsewhere, as `gslbd plan` counts them with all members up. Without it it is not counted.',
  ),
})

const TenantGuardrails = Type.Object(
  {
    removedNames: percent(
      'Percent of the names of the tenant that one commit may remove or leave without a pool.',
    ),
    ...changeLimits(() => 'Without it the limit of the whole alone holds.'),
  },
  { additionalProperties: false, description: 'Limits that are counted in one tenant alone.' },
)
type TenantGuardrails = Static<typeof TenantGuardrails>

/** Key in `tenants` for every tenant without a row of its own. */
export const otherTenants = '*'

export const Guardrails = Type.Object(
  {
    removedNames: Type.Optional(
      Type.Integer({
        minimum: 0,
        maximum: 100,
        description:
          'Percent of the names that one commit may remove or leave without a pool: of all ' +
          'names, of those of services, and of those with records, each by itself. One that ' +
          'removes ' +
          'more, and more than one, is held until a commit with the trailer ' +
          '`Gslb-Override: REASON` says that it is meant; so is one that leaves none, leaves no ' +
          'service with a pool, or takes away a zone that has names. The value in the commit ' +
          'before counts. The same share holds for the requests to the API of ten minutes. ' +
          'Without it: ' +
          `${removedNamesDefault}.`,
      }),
    ),
    ...changeLimits((name) => `${overridden}${changeLimitDefaults[name]}.`),
    replacedServers: percent(
      'Percent of the name servers of a zone that one commit may replace, and more than one; or ' +
        `all of them. At 100 it may. ${overridden}${changeLimitDefaults.replacedServers}.`,
    ),
    tenants: Type.Optional(
      Type.Record(Type.String({ pattern: tenantOrOthersPattern }), TenantGuardrails, {
        maxProperties: 10_000,
        additionalProperties: false,
        description:
          'Further limits by tenant, each counted in the names and pools of that tenant alone; ' +
          '`*`: each tenant that is not named.',
      }),
    ),
    movedTraffic: plannedGroup('Limit on the share of traffic that one change may move.'),
  },
  { additionalProperties: false, description: 'Limits on how much one change may alter.' },
)
export type Guardrails = Static<typeof Guardrails>
