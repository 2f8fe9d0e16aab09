// The numbers of the dashboard (document A, "Dashboard stats"), of what a caller may see.
import { Type } from 'typebox'
import { partsIn } from '#gitops/config-entry.ts'
import { listObjects } from '../config-reads.ts'
import { isReachable } from '../member-health.ts'
import type { Viewer } from '../caller.ts'
import type { ApiPorts } from '../ports.ts'
import { healthOf } from './health-status.ts'

export const DashboardStats = Type.Object(
  {
    totalPools: Type.Integer(),
    totalMembers: Type.Integer(),
    healthyMembers: Type.Integer(),
    unhealthyMembers: Type.Integer(),
    totalServices: Type.Integer(),
    totalGeoRules: Type.Integer(),
    uptimeSeconds: Type.Integer(),
    webSocketClients: Type.Integer(),
  },
  { title: 'DashboardStats' },
)

export interface StatsContext {
  readonly caller: Viewer
  readonly ports: Pick<ApiPorts, 'config' | 'memberHealth' | 'node'>
}

export function statsOf(context: StatsContext) {
  const { memberHealth, node } = context.ports
  const pools = listObjects(context, 'Pool')
  let [totalMembers, healthyMembers, totalGeoRules] = [0, 0, 0]
  for (const pool of pools) {
    totalGeoRules += pool.object.spec.geoRules.length
    for (const member of partsIn('Member', pool)) {
      totalMembers++
      if (isReachable(healthOf(memberHealth, member))) healthyMembers++
    }
  }
  return {
    totalPools: pools.length,
    totalMembers,
    healthyMembers,
    unhealthyMembers: totalMembers - healthyMembers,
    totalServices: listObjects(context, 'Service').length,
    totalGeoRules,
    uptimeSeconds: Math.floor(node.uptimeSeconds()),
    webSocketClients: node.webSocketClients(),
  }
}
