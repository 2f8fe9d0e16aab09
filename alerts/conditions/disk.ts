// Condition: the data directory cannot be written, or its disk is nearly full.
import type { Condition } from '#alerts/condition.ts'
import { operatorId } from '#state/ports/alerts.ts'

export const disk: Condition = {
  name: 'disk',
  severity: 'warning',
  audience: 'operator',
  isOfNode: true,
  holdMs: 0,
  clearMs: 60_000,
  says:
    'The data directory cannot be written, or less than `alerts.diskFreeMinPercent` of its disk ' +
    'is free',
  find: (facts, { diskFreeMinPercent }) => {
    const { fault, freePercent } = facts.disk()
    const about = { tenantId: operatorId, subject: 'data-directory' }
    if (fault !== '') {
      const title = 'the data directory cannot be written'
      return [{ ...about, title, detail: fault, severity: 'critical' as const }]
    }
    if (freePercent === null || freePercent >= diskFreeMinPercent) return []
    const title = `${Math.floor(freePercent)} % of the disk of the data directory is free`
    return [{ ...about, title, detail: 'Make room before changes and backups fail.' }]
  },
}
