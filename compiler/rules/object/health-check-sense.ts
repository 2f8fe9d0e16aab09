// A health check does what its fields suggest.
import { HealthCheck } from '#schemas/objects/health-check.ts'
import { keyAt, valueAt } from '#compiler/diagnostics/diagnostic.ts'
import type { ObjectRule } from './object-rule.ts'

/** Fields that only one type looks at. */
const fieldsOf = {
  tcp: [],
  http: ['httpPath', 'httpHost', 'httpExpectedStatus', 'httpContains', 'tls', 'insecureSkipVerify'],
  icmp: ['icmpCount'],
  script: ['scriptPath', 'scriptContent'],
  webhook: ['webhookURL', 'webhookMethod'],
} as const satisfies Record<HealthCheck['type'], readonly (keyof HealthCheck)[]>

export const healthCheckSense: ObjectRule<'Pool'> = {
  name: 'health-check-sense',
  kind: 'Pool',
  check({ spec: { healthCheck: check } }, report) {
    if (check === undefined) return
    const { intervalMs, timeoutMs, type } = check
    if (timeoutMs > intervalMs) {
      const args = [String(timeoutMs), String(intervalMs)]
      report('health-check-slow', valueAt('spec', 'healthCheck', 'timeoutMs'), { args })
    }
    for (const field of ['riseCount', 'fallCount'] as const) {
      if (check.scoreWindow === 0 || check[field] === defaultOf(field)) continue
      const args = [field, String(check.scoreWindow)]
      report('health-check-count-ignored', keyAt('spec', 'healthCheck', field), { args })
    }
    const { httpExpectedStatus: status } = check
    if (status > 0 && status < 100) {
      const place = valueAt('spec', 'healthCheck', 'httpExpectedStatus')
      report('health-check-status', place, { args: [String(status)] })
    }
    if (type === 'http' && check.insecureSkipVerify) {
      report('health-check-insecure', valueAt('spec', 'healthCheck', 'insecureSkipVerify'))
    }
    for (const [owner, fields] of Object.entries(fieldsOf)) {
      if (owner === type) continue
      for (const field of fields) {
        // A field with its default has no effect on any type: saying so helps nobody.
        if (check[field] === defaultOf(field)) continue
        const args = [field, type, owner]
        report('health-check-ignored-field', keyAt('spec', 'healthCheck', field), { args })
      }
    }
    if (type === 'icmp' && check.port !== defaultOf('port')) {
      const args = ['port', type, 'tcp']
      report('health-check-ignored-field', keyAt('spec', 'healthCheck', 'port'), { args })
    }
  },
}

function defaultOf(field: keyof HealthCheck): unknown {
  return (HealthCheck.properties[field] as { default?: unknown }).default
}
