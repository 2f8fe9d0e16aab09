// /api/v1/snapshot: all objects that a dashboard needs at its start, in one response.
import { Type } from '#lib/schema/type.ts'
import { partsIn } from '#config/entry.ts'
import { effectiveNow } from '#api/config/effective.ts'
import { listObjects } from '#api/config/reads.ts'
import { isReachable } from '#ports/member-health.ts'
import { success } from '#http/reply.ts'
import { DashboardStats, statsOf } from '../resources/dashboard.ts'
import { GeoRule, showGeoRule } from '../resources/geo-rule.ts'
import { byAddress, healthOf } from '../resources/health-status.ts'
import { Member, showMember } from '../resources/member.ts'
import type { MemberPart } from '../resources/member.ts'
import { Pool, showPool } from '../resources/pool.ts'
import { Service, showService } from '../resources/service.ts'
import type { Ports } from '#ports/ports.ts'
import { route } from '#api/route/route.ts'
import type { RouteContext } from '#api/route/route.ts'

const byPool = <Value extends Parameters<typeof Type.Record>[1]>(value: Value) =>
  Type.Record(Type.String(), value)

const health = Type.Object({
  healthy: Type.Boolean(),
  probed: Type.Boolean({ description: 'false: nobody looks at it, so nobody knows' }),
  score: Type.Number(),
  reason: Type.String(),
  since: Type.Integer(),
  lastChecked: Type.Integer({ description: 'Unix milliseconds; 0: no probe has said anything' }),
})

const Snapshot = Type.Object(
  {
    pools: Type.Array(Pool),
    members: byPool(Type.Array(Member)),
    services: Type.Array(Service),
    healthStatus: byPool(
      Type.Record(Type.String(), health, {
        description: 'By address; of two members with one address, the first',
      }),
    ),
    geoRules: byPool(Type.Array(GeoRule)),
    stats: DashboardStats,
    timestamp: Type.Integer({ description: 'Unix milliseconds' }),
  },
  { title: 'Snapshot' },
)

export const getSnapshot = route('GET /api/v1/snapshot', {
  needs: 'snapshot:read',
  tag: 'Dashboard',
  summary: "Everything of the caller's tenant; of all tenants for a system administrator",
  responses: {
    200: { description: 'One state of everything', schema: Snapshot, hasRevision: true },
  },
  ports: ['config', 'memberHealth', 'overlays', 'node', 'clock'],
  handle: (context) => success(snapshotOf(context), revisionOf(context)),
})

function revisionOf({ ports }: RouteContext<'config'>) {
  return { 'x-gslb-revision': ports.config.snapshot().revision }
}

function snapshotOf(
  context: RouteContext<'config' | 'memberHealth' | 'overlays' | 'node' | 'clock'>,
) {
  const { ports } = context
  const config = ports.config.snapshot()
  const pools = listObjects(context, 'Pool')
  const now = effectiveNow(ports)
  const perPool = <Value>(show: (pool: (typeof pools)[number]) => Value) =>
    Object.fromEntries(pools.map((pool) => [pool.uid, show(pool)]))
  return {
    pools: pools.map(showPool),
    members: perPool((pool) =>
      partsIn('Member', pool).map((member) => showMember(pool.uid, member, now)),
    ),
    services: listObjects(context, 'Service').map((service) => showService(config, service)),
    healthStatus: perPool((pool) =>
      byAddress(partsIn('Member', pool), (member) => shortHealth(ports, member, pool.tenant)),
    ),
    geoRules: perPool((pool) =>
      partsIn('GeoRule', pool).map((rule) => showGeoRule(pool.uid, rule)),
    ),
    stats: statsOf(context),
    timestamp: Math.floor(ports.clock.nowMs()),
  }
}

function shortHealth({ memberHealth }: Ports<'memberHealth'>, member: MemberPart, tenant: string) {
  const known = healthOf(memberHealth, member, tenant)
  const { isProbed: probed, score, reason, sinceMs: since, lastCheckedMs: lastChecked } = known
  return { healthy: isReachable(known), probed, score, reason, since, lastChecked }
}
