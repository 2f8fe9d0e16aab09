// The JSON of a member's health.
import { Type } from 'typebox'
import { isReachable } from '#api/ports/member-health.ts'
import type { KnownHealth, MemberHealthView } from '#api/ports/member-health.ts'
import { canonical } from './member.ts'
import type { MemberPart } from './member.ts'

export const HealthStatus = Type.Object(
  {
    healthy: Type.Boolean(),
    score: Type.Number(),
    reason: Type.String({ description: 'Why this node does not find it healthy; empty: it does' }),
    since: Type.Integer({
      description: 'When it became what this node finds, Unix milliseconds; 0: not known',
    }),
    lastCheck: Type.Integer({
      description: 'When the last probe of this node ended, Unix milliseconds; 0: none has',
    }),
    rttMs: Type.Number(),
    globalRttMs: Type.Optional(Type.Number()),
    warming: Type.Optional(Type.Boolean()),
    warmupPasses: Type.Optional(Type.Integer()),
    warmupThreshold: Type.Optional(Type.Integer()),
    healthyNodes: Type.Integer(),
    totalNodes: Type.Integer(),
    nodes: Type.Array(
      Type.Object({
        node: Type.String(),
        healthy: Type.Boolean(),
        score: Type.Number(),
        reason: Type.String(),
        since: Type.Integer(),
      }),
    ),
  },
  { title: 'HealthStatus' },
)

export function healthOf(view: MemberHealthView, member: MemberPart): KnownHealth {
  const { uid, ipAddress, externalSignalMode } = member
  return view.of({ uid, ipAddress: canonical(ipAddress), externalSignalMode })
}

/** An address stands for the first member that has it, as it does where files name members. */
export function byAddress<T>(
  members: readonly MemberPart[],
  show: (member: MemberPart) => T,
): Readonly<Record<string, T>> {
  const shown: Record<string, T> = {}
  for (const member of members) shown[canonical(member.ipAddress)] ??= show(member)
  return shown
}

export function showHealth(known: KnownHealth, { warmupThreshold }: MemberPart) {
  const { score, rttMs, globalRttMs, isWarming, warmupPasses, nodes } = known
  const { reason, sinceMs: since, lastCheckedMs: lastCheck } = known
  return {
    healthy: isReachable(known),
    score,
    reason,
    since,
    lastCheck,
    rttMs,
    ...(globalRttMs === null ? {} : { globalRttMs }),
    ...(warmupThreshold === 0 ? {} : { warming: isWarming, warmupPasses, warmupThreshold }),
    healthyNodes: nodes.filter(({ healthy }) => healthy).length,
    totalNodes: nodes.length,
    nodes: nodes.map(({ sinceMs, ...node }) => ({ ...node, since: sinceMs })),
  }
}
