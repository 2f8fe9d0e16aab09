// A pool: interchangeable members, and how they are probed.
import { Type } from '#lib/schema/type.ts'
import type { Static } from '#lib/schema/type.ts'
import { GeoRule } from './geo-rule.ts'
import { choice } from '#schemas/forms/annotations.ts'
import { HealthCheck } from './health-check.ts'
import { Member } from './member.ts'

export const membersPerPoolMax = 4_096
const geoRulesPerPoolMax = 10_000

export const PoolSpec = Type.Object(
  {
    members: Type.Array(Member, {
      maxItems: membersPerPoolMax,
      default: [],
      description: 'The backends. The order matters only between equals.',
    }),
    answer: choice(['addresses', 'cname'], {
      default: 'addresses',
      description:
        'What a reply holds. `addresses`: those of the chosen member, which of a `hostname` each ' +
        'node resolves; `cname`: an alias of its `hostname`, which each member must have.',
    }),
    healthCheck: Type.Optional(HealthCheck),
    minHealthy: Type.Integer({
      minimum: 0,
      maximum: membersPerPoolMax,
      default: 0,
      description:
        'With fewer members that are enabled, healthy and warmed up, the pool answers nothing; ' +
        '0 sets no such limit.',
    }),
    geoRules: Type.Array(GeoRule, {
      maxItems: geoRulesPerPoolMax,
      default: [],
      description:
        'Which clients prefer which member, before the algorithm: the longest prefix wins, then ' +
        'the lower priority, then the order of the file.',
    }),
  },
  { additionalProperties: false, description: 'Members that can stand in for one another.' },
)
export type PoolSpec = Static<typeof PoolSpec>
