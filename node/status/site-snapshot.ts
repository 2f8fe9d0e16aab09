// What a node serves, for its metrics: how many of each kind, and the members of each pool.
import { metricLimits } from '#metrics/limits.ts'
import type { MetricsSnapshot } from '#metrics/snapshot.ts'
import { countPoolHealth } from '#server/node/health-counts.ts'
import type { DnsNode } from '#server/node/node.ts'

export function siteSnapshot(
  node: Pick<DnsNode, 'live'>,
): Pick<MetricsSnapshot, 'objects' | 'poolMembers'> {
  const live = node.live()
  if (live === undefined) return { objects: null, poolMembers: [] }
  const { zones, services, pools } = live.bundle.counts
  return {
    objects: { zones, services, pools },
    poolMembers: countPoolHealth(live.bundle, live.state, metricLimits.poolsMax),
  }
}
