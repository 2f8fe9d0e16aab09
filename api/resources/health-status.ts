// Defines the JSON of a member's health.
import { Type } from '#lib/schema/type.ts'
import { isReachable } from '#ports/member-health.ts'
import type { KnownHealth, MemberHealthView } from '#ports/member-health.ts'
import { isHostname, targetOf } from '#compiler/values/member-target.ts'
import type { EffectiveMember } from '#config/overlays/effective.ts'
import { declaredFields, effectiveFields } from './member.ts'
import type { MemberPart } from './member.ts'

export const HealthStatus = Type.Object(
  {
    healthy: Type.Boolean(),
    probed: Type.Boolean({
      description:
        'A probe or an outside monitor looks at it; false: it is answered, and nobody knows',
    }),
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
    resolved: Type.Optional(
      Type.Array(Type.Object({ address: Type.String(), healthy: Type.Boolean() }), {
        description: 'Of a member with a hostname: the addresses that it has on this node',
      }),
    ),
    resolvedAt: Type.Optional(
      Type.Integer({
        description: 'When they were found, Unix milliseconds; 0: never, or there is no need to',
      }),
    ),
    resolveError: Type.Optional(
      Type.String({ description: 'Why the last lookup failed; empty: it did not' }),
    ),
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
    weight: Type.Integer({ description: 'In effect now, with its rollout' }),
    enabled: Type.Boolean({ description: 'In effect now, with maintenance windows' }),
    ...declaredFields,
  },
  { title: 'HealthStatus' },
)

/** @param tenant of the member's pool */
export function healthOf(view: MemberHealthView, member: MemberPart, tenant: string): KnownHealth {
  const { uid, externalSignalMode } = member
  const target = targetOf(member)
  return view.of(
    isHostname(member)
      ? { uid, ipAddress: '', hostname: target, tenant, externalSignalMode }
      : { uid, ipAddress: target, externalSignalMode },
  )
}

/** An address or host name stands for the first member that has it, as in files. */
export function byAddress<T>(
  members: readonly MemberPart[],
  show: (member: MemberPart) => T,
): Readonly<Record<string, T>> {
  const shown: Record<string, T> = {}
  for (const member of members) shown[targetOf(member)] ??= show(member)
  return shown
}

export function showHealth(known: KnownHealth, member: MemberPart, effective: EffectiveMember) {
  const { warmupThreshold } = member
  const { score, rttMs, globalRttMs, isWarming, warmupPasses, nodes, resolved } = known
  const { reason, sinceMs: since, lastCheckedMs: lastCheck } = known
  return {
    healthy: isReachable(known),
    probed: known.isProbed,
    score,
    reason,
    since,
    lastCheck,
    rttMs,
    ...(globalRttMs === null ? {} : { globalRttMs }),
    ...(warmupThreshold === 0 ? {} : { warming: isWarming, warmupPasses, warmupThreshold }),
    ...(resolved === undefined
      ? {}
      : {
          resolved: resolved.addresses,
          resolvedAt: Math.floor(resolved.atMs),
          resolveError: resolved.error,
        }),
    healthyNodes: nodes.filter(({ healthy }) => healthy).length,
    totalNodes: nodes.length,
    nodes: nodes.map(({ sinceMs, ...node }) => ({ ...node, since: sinceMs })),
    ...effectiveFields(effective, member),
  }
}
