// Condition: the licence is invalid or ends soon, or something is used beyond it.
import type { Condition } from '#alerts/condition.ts'
import { operatorId } from '#state/ports/alerts.ts'

const dayMs = 86_400_000

export const licence: Condition = {
  name: 'licence',
  severity: 'warning',
  audience: 'operator',
  isOfNode: false,
  holdMs: 0,
  clearMs: 0,
  says: 'The licence is not valid, ends within `alerts.expiryWarning`, or is exceeded',
  find: (facts, { expiryWarningMs }) => {
    const licence = facts.licence()
    if (licence === null || !licence.isEnforced) return []
    const { isValid, reason, expiresAtMs, excess } = licence
    const about = { tenantId: operatorId }
    if (!isValid) {
      const title = 'the licence does not count'
      return [{ ...about, subject: 'validity', title, detail: reason, severity: 'error' as const }]
    }
    const leftMs = expiresAtMs === null ? Infinity : expiresAtMs - facts.nowMs()
    const days = Math.max(0, Math.floor(leftMs / dayMs))
    return [
      ...(leftMs > expiryWarningMs
        ? []
        : [
            {
              ...about,
              subject: 'expiry',
              title: `the licence ends in ${days} days`,
              detail: 'Apply a new one (POST /api/v1/license) before.',
            },
          ]),
      ...(excess === ''
        ? []
        : [{ ...about, subject: 'excess', title: 'the licence is exceeded', detail: excess }]),
    ]
  },
}
