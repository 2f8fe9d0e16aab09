// Who may write records where: the one place that knows it.
import { defaultTenant } from '#schemas/objects/tenant.ts'
import type { PlannedZone } from './zone-plan.ts'

/**
 * A tenant may write in the zones that the settings give it. A delegated domain that is verified
 * does not count: its check shows that the parent leads to this cluster, and any tenant may have
 * registered the domain first.
 */
export function mayWriteRecords(tenant: string, { recordTenants }: PlannedZone): boolean {
  return recordTenants === undefined ? tenant === defaultTenant : recordTenants.includes(tenant)
}
