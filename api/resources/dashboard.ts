// Computes the numbers of the dashboard over what the caller may see.
import { Type } from '#lib/schema/type.ts'
import { partsIn } from '#config/entry.ts'
import type { ConfigEntry } from '#config/entry.ts'
import { listObjects } from '#api/config/reads.ts'
import { isReachable } from '#ports/member-health.ts'
import type { Viewer } from '#access/caller.ts'
import type { Ports } from '#ports/ports.ts'
import type { MemberHealthView } from '#ports/member-health.ts'
import type { NodeFacts } from '#ports/node-facts.ts'
import { healthOf } from './health-status.ts'

export const DashboardStats = Type.Object(
  {
    totalPools: Type.Integer(),
    totalMembers: Type.Integer(),
    healthyMembers: Type.Integer(),
    unhealthyMembers: Type.Integer(),
    unprobedMembers: Type.Integer({
      description: 'Of the healthy: nobody probes them, so nobody knows',
    }),
    totalServices: Type.Integer(),
    totalGeoRules: Type.Integer(),
    uptimeSeconds: Type.Integer(),
    webSocketClients: Type.Integer(),
  },
  { title: 'DashboardStats' },
)

type StatsPorts = Ports<'config' | 'memberHealth' | 'node'>

interface StatsContext {
  readonly caller: Viewer
  readonly ports: StatsPorts
}

export function statsOf(context: StatsContext) {
  const { memberHealth, node } = context.ports
  const counts = noCounts()
  for (const pool of listObjects(context, 'Pool')) addPool(counts, pool, memberHealth)
  counts.totalServices = listObjects(context, 'Service').length
  return showStats(counts, node)
}

/** Counts for every tenant in one pass; the key null stands for all tenants. */
export function statsByTenant({ config, memberHealth, node }: StatsPorts) {
  const snapshot = config.snapshot()
  const perTenant = new Map<string, Counts>()
  const countsOf = (tenant: string): Counts => {
    const counts = perTenant.get(tenant) ?? noCounts()
    perTenant.set(tenant, counts)
    return counts
  }
  for (const pool of snapshot.list('Pool')) addPool(countsOf(pool.tenant), pool, memberHealth)
  for (const { tenant } of snapshot.list('Service')) countsOf(tenant).totalServices++
  const all = noCounts()
  for (const counts of perTenant.values()) for (const key of countKeys) all[key] += counts[key]
  return (tenant: string | null) =>
    showStats(tenant === null ? all : (perTenant.get(tenant) ?? noCounts()), node)
}

const countKeys = [
  'totalPools',
  'totalMembers',
  'healthyMembers',
  'unprobedMembers',
  'totalServices',
  'totalGeoRules',
] as const

type Counts = Record<(typeof countKeys)[number], number>

function noCounts(): Counts {
  return {
    ...{ totalPools: 0, totalMembers: 0, healthyMembers: 0, unprobedMembers: 0 },
    ...{ totalServices: 0, totalGeoRules: 0 },
  }
}

function addPool(counts: Counts, pool: ConfigEntry<'Pool'>, memberHealth: MemberHealthView): void {
  counts.totalPools++
  counts.totalGeoRules += pool.object.spec.geoRules.length
  for (const member of partsIn('Member', pool)) {
    counts.totalMembers++
    const known = healthOf(memberHealth, member, pool.tenant)
    if (isReachable(known)) counts.healthyMembers++
    if (!known.isProbed) counts.unprobedMembers++
  }
}

function showStats(counts: Counts, node: NodeFacts) {
  const { totalPools, totalMembers, healthyMembers, unprobedMembers } = counts
  const { totalServices, totalGeoRules } = counts
  return {
    totalPools,
    totalMembers,
    healthyMembers,
    unhealthyMembers: totalMembers - healthyMembers,
    unprobedMembers,
    totalServices,
    totalGeoRules,
    uptimeSeconds: Math.floor(node.uptimeSeconds()),
    webSocketClients: node.webSocketClients(),
  }
}
