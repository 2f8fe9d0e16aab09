// Checks an HTTP health check: a request that a server can answer, without secrets.
import type { HealthCheck } from '#schemas/objects/health-check.ts'
import { keyAt, valueAt } from '#diagnostics/diagnostic.ts'
import type { Report } from '#diagnostics/finding.ts'
import { statusRanges } from '#compiler/values/health-check-model.ts'
import type { ObjectRule } from './object-rule.ts'

/** They say how the message is sent, and to whom. RFC 9110 sections 7.2, 7.6.1, 10.1.1. */
const framing: ReadonlySet<string> = new Set([
  'connection',
  'content-length',
  'expect',
  'host',
  'keep-alive',
  'proxy-connection',
  'te',
  'trailer',
  'transfer-encoding',
  'upgrade',
])
const secrets: ReadonlySet<string> = new Set(['authorization', 'cookie', 'proxy-authorization'])

export const healthCheckHttp: ObjectRule<'Pool'> = {
  name: 'health-check-http',
  kind: 'Pool',
  check({ spec: { healthCheck: check } }, report) {
    if (check === undefined) return
    checkStatuses(check, report)
    for (const name of Object.keys(check.httpHeaders)) {
      const at = keyAt('spec', 'healthCheck', 'httpHeaders', name)
      if (framing.has(name.toLowerCase())) report('health-check-header', at, { args: [name] })
      if (secrets.has(name.toLowerCase()))
        report('health-check-header-secret', at, { args: [name] })
    }
    if (check.type === 'http' && check.httpMethod === 'HEAD' && check.httpContains !== '')
      report('health-check-head-contains', keyAt('spec', 'healthCheck', 'httpContains'))
    const isOverTls = check.tls || !['http', 'grpc'].includes(check.type)
    if (check.clientCertificate !== '' && !isOverTls)
      report(
        'health-check-certificate-without-tls',
        keyAt('spec', 'healthCheck', 'clientCertificate'),
      )
  },
}

function checkStatuses(check: HealthCheck, report: Report): void {
  const { httpExpectedStatus: status, httpExpectedStatuses: statuses } = check
  if (status > 0 && status < 100) {
    const place = valueAt('spec', 'healthCheck', 'httpExpectedStatus')
    report('health-check-status', place, { args: [String(status)] })
  }
  for (const [i, [from, to]] of statusRanges(statuses).entries()) {
    if (from <= to) continue
    const place = valueAt('spec', 'healthCheck', 'httpExpectedStatuses', i)
    report('health-check-status-range', place, { args: [`${from}-${to}`, `${to}-${from}`] })
  }
  if (statuses.length > 0 && status !== 200) {
    report('health-check-status-twice', keyAt('spec', 'healthCheck', 'httpExpectedStatus'))
  }
}
