// Condition: a certificate of this node's settings ends soon, has ended, or cannot be read.
import type { Condition } from '#alerts/condition.ts'
import { operatorId } from '#state/ports/alerts.ts'

const dayMs = 86_400_000

export const certificate: Condition = {
  name: 'certificate',
  severity: 'warning',
  audience: 'operator',
  isOfNode: true,
  holdMs: 0,
  clearMs: 0,
  says:
    'A certificate file of `health.clientCertificates`, `dns.tls`, `api.tls` or ' +
    '`redirect.https` ends within `alerts.expiryWarning`, has ended, or cannot be read',
  find: (facts, { expiryWarningMs }) =>
    facts.certificates().flatMap(({ name, path, error, expiresAtMs }) => {
      const about = { tenantId: operatorId, subject: name }
      if (error !== '') {
        const title = `the certificate ${name} cannot be read`
        return [{ ...about, title, detail: `${path}: ${error}`, severity: 'error' as const }]
      }
      const leftMs = expiresAtMs === null ? Infinity : expiresAtMs - facts.nowMs()
      if (leftMs > expiryWarningMs) return []
      const detail = `Renew ${path}; the new one is taken over within half a minute.`
      if (leftMs <= 0) {
        const title = `the certificate ${name} has ended`
        return [{ ...about, title, detail, severity: 'error' as const }]
      }
      const days = Math.floor(leftMs / dayMs)
      return [{ ...about, title: `the certificate ${name} ends in ${days} days`, detail }]
    }),
}
