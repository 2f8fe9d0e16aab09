// Finds fields of a health check that have no effect, or not the one they suggest.
import { HealthCheck } from '#schemas/objects/health-check.ts'
import { keyAt, valueAt } from '#diagnostics/diagnostic.ts'
import type { ObjectRule } from './object-rule.ts'

type Field = keyof HealthCheck
type Type = HealthCheck['type']

/** Fields that only some types look at, the first of which is advised. */
const ownersOf: readonly (readonly [owners: readonly Type[], fields: readonly Field[]])[] = [
  [['http'], ['httpMethod', 'httpPath', 'httpHeaders', 'httpExpectedStatus']],
  [['http'], ['httpExpectedStatuses', 'httpContains']],
  [
    ['http', 'grpc'],
    ['httpHost', 'tls', 'insecureSkipVerify', 'clientCertificate'],
  ],
  [['icmp'], ['icmpCount']],
  [['script'], ['scriptPath', 'scriptContent']],
  [['webhook'], ['webhookURL', 'webhookMethod']],
  [['grpc'], ['grpcService']],
  [['dns'], ['dnsName', 'dnsType', 'dnsRcode', 'dnsContains']],
]

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
      if (check.scoreWindow === 0 || isDefault(check, field)) continue
      const args = [field, String(check.scoreWindow)]
      report('health-check-count-ignored', keyAt('spec', 'healthCheck', field), { args })
    }
    if ((type === 'http' || type === 'grpc') && check.insecureSkipVerify) {
      report('health-check-insecure', valueAt('spec', 'healthCheck', 'insecureSkipVerify'))
    }
    for (const [owners, fields] of ownersOf) {
      if (owners.includes(type)) continue
      for (const field of fields) {
        // A field with its default has no effect on any type: saying so helps nobody.
        if (isDefault(check, field)) continue
        const args = [field, type, owners[0]!]
        report('health-check-ignored-field', keyAt('spec', 'healthCheck', field), { args })
      }
    }
    if (type === 'icmp' && !isDefault(check, 'port')) {
      const args = ['port', type, 'tcp']
      report('health-check-ignored-field', keyAt('spec', 'healthCheck', 'port'), { args })
    }
  },
}

function isDefault(check: HealthCheck, field: Field): boolean {
  const value: unknown = check[field]
  // Lists and maps default to empty.
  if (typeof value === 'object' && value !== null) return Object.keys(value).length === 0
  return value === (HealthCheck.properties[field] as { default?: unknown }).default
}
