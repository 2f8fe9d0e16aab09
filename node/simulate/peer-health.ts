// What another node's probes say of the members that a service answers from.
import type { MemberHealthView } from '#api/ports/member-health.ts'
import { namedPoolsOf } from '#compiler/tree/fallback.ts'
import { partsIn } from '#config/entry.ts'
import type { ConfigSnapshot } from '#config/object-index.ts'
import type { AssumedHealth } from '#routing/choose/explain.ts'

/** @returns by TENANT/POOL/ADDRESS; members of whom that node says nothing are left out */
export function healthSeenBy(
  node: string,
  service: { readonly name: string; readonly tenantId: string },
  snapshot: ConfigSnapshot,
  memberHealth: MemberHealthView,
): ReadonlyMap<string, AssumedHealth> {
  const { name, tenantId } = service
  const spec = snapshot.find('Service', tenantId, name)?.object.spec
  const seen = new Map<string, AssumedHealth>()
  for (const poolName of spec === undefined ? [] : namedPoolsOf(spec)) {
    const pool = snapshot.find('Pool', tenantId, poolName)
    if (pool === undefined) continue
    for (const { uid, ipAddress = '', externalSignalMode } of partsIn('Member', pool)) {
      if (ipAddress === '') continue
      const { nodes } = memberHealth.of({ uid, ipAddress, externalSignalMode })
      const view = nodes.find((one) => one.node === node)
      if (view === undefined) continue
      const { healthy, score } = view
      seen.set(`${tenantId}/${poolName}/${ipAddress}`, { healthy, score })
    }
  }
  return seen
}
