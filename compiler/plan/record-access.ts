// Who may write records where: the one place that knows it.
import { defaultTenant } from '#schemas/objects/tenant.ts'
import type { PlannedZone } from './zone-plan.ts'

/**
 * A tenant may write in the zones that the settings give it. Domains that were delegated to it, and
 * verified, are to count here as soon as a tree can tell that they were.
 */
export function mayWriteRecords(tenant: string, { recordTenants }: PlannedZone): boolean {
  return recordTenants === undefined ? tenant === defaultTenant : recordTenants.includes(tenant)
}
